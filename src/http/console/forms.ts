import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { DatabaseError } from 'pg'
import { PostgresUnavailable } from '#src/db/outage.ts'
import { MAX_BECAUSE_CHARACTERS } from '#src/model/act.ts'
import type { Secret } from '#src/model/secret.ts'
import { type Answer, notFound, refused } from './answers.ts'
import { type Html, html } from './html.ts'
import {
  type Action,
  type Confirmation,
  type Lookup,
  type LookupView,
  NotPossible,
  type PageRequest,
} from './page.ts'

/** Pages with a form: they ask before an action, carry it out, or look something up. */
export type Forms = {
  confirm(action: Action, asked: PageRequest): Promise<Answer>
  carryOut(action: Action, asked: PageRequest, request: FastifyRequest): Promise<Answer>
  /** Shows the form of a lookup. */
  ask(lookup: Lookup, asked: PageRequest): Promise<Answer>
  /** Shows what was found, with the form. */
  look(lookup: Lookup, asked: PageRequest, request: FastifyRequest): Promise<Answer>
}

/** Returns the forms of a console. A form that was not sent by a page of this console does nothing. */
export function createForms(operateToken: Secret | null): Forms {
  const tokens = createFormTokens(operateToken)

  /** Null if the form was sent by a page of this console, about what it is sent to. */
  function strangeForm({ path }: PageRequest, { headers }: FastifyRequest, form: URLSearchParams) {
    if (!isSameOrigin(headers)) {
      return refused(403, 'This form was not sent by a page of this console. Nothing was done.')
    }
    if (tokens.isValid(path, form.get('token') ?? '')) return null
    return refused(
      403,
      'This form has expired, or is not from this console. Nothing was done. Open the page again.',
    )
  }

  async function found(lookup: Lookup, asked: PageRequest, form: URLSearchParams | null): Promise<Answer> {
    const view = await lookup.look(asked, form)
    if (!view) return notFound(asked.path)
    const body = lookupBody(asked.path, tokens.issue(asked.path), view)
    return { status: 200, title: view.title, body }
  }

  return {
    async confirm(action, asked) {
      const confirmation = await action.confirm(asked)
      if (!confirmation) return notFound(asked.path)
      if ('goTo' in confirmation) return confirmation
      const body = confirmationBody(asked.path, tokens.issue(asked.path), confirmation)
      return { status: 200, title: confirmation.title, body }
    },
    async carryOut(action, asked, request) {
      const form = formIn(request)
      const strange = strangeForm(asked, request, form)
      if (strange) return strange
      const because = form.get('because')?.trim() || null
      if ([...(because ?? '')].length > MAX_BECAUSE_CHARACTERS) {
        return refused(
          400,
          `The reason is longer than ${MAX_BECAUSE_CHARACTERS} characters. Nothing was done.`,
        )
      }
      try {
        const goTo = await action.act(asked, { actor: asked.visitor.actor, because }, form)
        return goTo === null ? notFound(asked.path) : { goTo }
      } catch (error) {
        if (!isRefusal(error)) throw error
        return refused(409, [error.message, error.whatToDo].filter(Boolean).join(' '))
      }
    },
    ask: (lookup, asked) => found(lookup, asked, null),
    async look(lookup, asked, request) {
      const form = formIn(request)
      return strangeForm(asked, request, form) ?? found(lookup, asked, form)
    },
  }
}

function formIn({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

type Refusal = Error & { readonly whatToDo?: string }

/** Whether a domain refused the action, in words for people. Its errors have names of their own. */
function isRefusal(error: unknown): error is Refusal {
  if (error instanceof DatabaseError || error instanceof PostgresUnavailable || error instanceof NotPossible)
    return false
  return error instanceof Error && error.name !== 'Error' && Object.hasOwn(error, 'name')
}

/** How long a page with a form may stay open. */
const VALID_MS = 60 * 60 * 1_000

type FormTokens = {
  /** The token for the form of one action, such as `/imports/7/pause`. */
  issue(action: string): string
  /** Whether `token` was issued for this action within the last hour. */
  isValid(action: string, token: string): boolean
}

/**
 * Returns the tokens without which no form is accepted: a page of another site can send a form here, but cannot read one.
 * Workers with the same operate token accept each other's. Without an operate token they are valid until the worker ends.
 */
export function createFormTokens(operateToken: Secret | null, clock = Date.now): FormTokens {
  const random = randomBytes(32)
  // A token in a file may be rotated: forms that are open then are sent again.
  const keyNow = () =>
    operateToken ? createHmac('sha256', operateToken.reveal()).update('ferry console forms').digest() : random
  const sign = (action: string, issuedAt: number) =>
    createHmac('sha256', keyNow()).update(`${issuedAt} ${action}`).digest('base64url')
  return {
    issue(action) {
      const issuedAt = clock()
      return `${issuedAt}.${sign(action, issuedAt)}`
    },
    isValid(action, token) {
      const [, issued = '', signature = ''] = /^(\d{1,15})[.]([\w-]{43})$/.exec(token) ?? []
      if (signature === '') return false
      const age = clock() - Number(issued)
      const isSigned = timingSafeEqual(Buffer.from(signature), Buffer.from(sign(action, Number(issued))))
      return isSigned && age >= 0 && age <= VALID_MS
    },
  }
}

/**
 * True if a form was sent by a page of this very server. Browsers say so in `Sec-Fetch-Site`, older ones in `Origin`. A
 * client that sends neither is not a browser and needs a token, which another site cannot make a browser send.
 */
export function isSameOrigin({ origin, host, authorization, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  if (origin !== undefined) return URL.parse(origin)?.host === host?.toLowerCase()
  return site !== undefined || /^bearer /i.test(authorization ?? '')
}

/** The form that asks whether to do something. */
function confirmationBody(action: string, token: string, asked: Confirmation): Html {
  const { body, button, isDangerous, back } = asked
  return html`<form class="confirmation" method="post" action="${action}">
${body}
<label>Why? <input type="text" name="because" maxlength="${MAX_BECAUSE_CHARACTERS}" autocomplete="off"> <small>Recorded in the audit log.</small></label>
<input type="hidden" name="token" value="${token}">
<p class="buttons"><button class="${isDangerous ? 'danger' : 'primary'}">${button}</button> <a class="button" href="${back}">Back</a></p>
</form>`
}

/** The form of a lookup, below what was found: people read the answer more often than they ask again. */
function lookupBody(path: string, token: string, { fields, button, found, back }: LookupView): Html {
  return html`${found}<form class="confirmation" method="post" action="${path}" autocomplete="off">
${fields}
<input type="hidden" name="token" value="${token}">
<p class="buttons"><button class="primary">${button}</button> <a class="button" href="${back}">Back</a></p>
</form>`
}
