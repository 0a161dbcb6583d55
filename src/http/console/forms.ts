import type { FastifyRequest } from 'fastify'
import { DatabaseError } from 'pg'
import { PostgresUnavailable } from '#src/db/outage.ts'
import { MAX_BECAUSE_CHARACTERS } from '#src/model/act.ts'
import type { Secret } from '#src/model/secret.ts'
import { type Answer, notFound, refused } from './answers.ts'
import { confirmationBody } from './confirmation.ts'
import { createFormTokens } from './form-token.ts'
import { lookupBody } from './lookup.ts'
import { type Action, type Lookup, NotPossible, type PageRequest } from './page.ts'
import { isSameOrigin } from './same-origin.ts'

/** What pages with a form do: ask before an action, carry it out, look something up. */
export type Forms = {
  confirm(action: Action, asked: PageRequest): Promise<Answer>
  carryOut(action: Action, asked: PageRequest, request: FastifyRequest): Promise<Answer>
  /** Shows the form of a lookup. */
  ask(lookup: Lookup, asked: PageRequest): Promise<Answer>
  /** Shows what was found, with the form. */
  look(lookup: Lookup, asked: PageRequest, request: FastifyRequest): Promise<Answer>
}

/** Returns the forms of a console. A form that no page of this console sent does nothing. */
export function createForms(operateToken: Secret | null): Forms {
  const tokens = createFormTokens(operateToken)

  /** Null if the form was sent by a page of this console, about what it is sent to. */
  function strangeForm({ path }: PageRequest, { headers }: FastifyRequest, form: URLSearchParams) {
    if (!isSameOrigin(headers)) {
      return refused(403, 'No page of this console sent this form. Nothing was done.')
    }
    if (tokens.isValid(path, form.get('token') ?? '')) return null
    return refused(
      403,
      'This form is too old, or is not of this console. Nothing was done. Open the page again.',
    )
  }

  async function found(lookup: Lookup, asked: PageRequest, form: URLSearchParams | null): Promise<Answer> {
    const view = await lookup.look(asked, form)
    if (!view) return notFound()
    const body = lookupBody(asked.path, tokens.issue(asked.path), view)
    return { status: 200, title: view.title, body }
  }

  return {
    async confirm(action, asked) {
      const confirmation = await action.confirm(asked)
      if (!confirmation) return notFound()
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
        return refused(400, `A reason has at most ${MAX_BECAUSE_CHARACTERS} characters. Nothing was done.`)
      }
      try {
        const goTo = await action.act(asked, { actor: asked.visitor.actor, because }, form)
        return goTo === null ? notFound() : { goTo }
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
