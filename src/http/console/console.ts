import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { MAX_BECAUSE_CHARACTERS } from '#src/model/act.ts'
import { reasonOf } from '#src/model/reason.ts'
import { createFailureBrake, type Tokens, type Visitor, visitorOf } from './access.ts'
import {
  type Answer,
  needsOperate,
  notFound,
  notPossible,
  notServing,
  refused,
  unreadable,
} from './answers.ts'
import { serveAssets } from './assets.ts'
import { confirmationBody } from './confirmation.ts'
import { createFormTokens } from './form-token.ts'
import { type Frame, pageOf } from './layout.ts'
import { lookupBody } from './lookup.ts'
import {
  type Action,
  BadQuery,
  type Lookup,
  NotPossible,
  type Page,
  type PageRequest,
  type Section,
} from './page.ts'
import { ACTIONS, LOOKUPS, PAGES } from './pages.ts'
import { isSameOrigin } from './same-origin.ts'
import type { ConsoleTarget } from './target.ts'

/*
 * Pages for people, rendered here from Postgres:
 *
 *     request ─► host allowed? ─► who asks? ─► GET: a page, or the confirmation of an action
 *                (listener.ts)    (access.ts)  POST: same origin? form token? ─► the action ─► 303 to what became of it
 *                                                                             └► a lookup: a page with what was found
 *
 * There are no cookies and no sessions. The only script and styles are those of assets/.
 */

export type ConsoleOptions = {
  readonly tokens: Tokens
  readonly log: Logger
  /** Null while the worker starts or stops. */
  target(): ConsoleTarget | null
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

const MAX_FORM_BYTES = 16_384

/** Adds the console to a server: its pages, its actions, and what they look like. */
export function serveConsole(app: FastifyInstance, { tokens, log, target }: ConsoleOptions): void {
  const assets = serveAssets(app)
  const forms = createFormTokens(tokens.operate)
  const brake = createFailureBrake()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  )

  for (const page of PAGES) {
    app.get(page.path, (request, reply) =>
      answer(request, reply, page, async asked => {
        const view = await page.render(asked)
        return view ? { status: 200, ...view } : notFound()
      }),
    )
  }
  for (const action of ACTIONS) {
    const forOperators = { ...action, access: 'operate' } as const
    app.get(action.path, (request, reply) =>
      answer(request, reply, forOperators, asked => confirm(action, asked)),
    )
    app.post(action.path, (request, reply) =>
      answer(request, reply, forOperators, asked => carryOut(action, asked, request)),
    )
  }
  for (const lookup of LOOKUPS) {
    const forOperators = { ...lookup, access: 'operate' } as const
    app.get(lookup.path, (request, reply) =>
      answer(request, reply, forOperators, asked => look(lookup, asked, null)),
    )
    app.post(lookup.path, (request, reply) =>
      answer(request, reply, forOperators, async asked => {
        const form = formIn(request)
        return strangeForm(asked, request, form) ?? (await look(lookup, asked, form))
      }),
    )
  }
  // A script that asks for something unknown is answered in JSON, as without a console.
  app.get('/*', (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) return reply.callNotFound()
    return answer(request, reply, { section: null, access: 'read' }, async () => notFound())
  })
  // A browser asks for another token only after a 401.
  app.get('/sign-in', async (request, reply) => {
    const visitor = visitorFrom(request)
    if (visitor?.access !== 'operate') return unknownVisitor(request, reply)
    const to = new URL(request.url, 'http://ferry').searchParams.get('to') ?? '/'
    return reply.redirect(/^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : '/', 303)
  })

  async function confirm(action: Action, asked: PageRequest): Promise<Answer> {
    const confirmation = await action.confirm(asked)
    if (!confirmation) return notFound()
    if ('goTo' in confirmation) return confirmation
    const { path } = asked
    return {
      status: 200,
      title: confirmation.title,
      body: confirmationBody(path, forms.issue(path), confirmation),
    }
  }

  async function look(lookup: Lookup, asked: PageRequest, form: URLSearchParams | null): Promise<Answer> {
    const view = await lookup.look(asked, form)
    if (!view) return notFound()
    return { status: 200, title: view.title, body: lookupBody(asked.path, forms.issue(asked.path), view) }
  }

  /** Null if the form was sent by a page of this console, about what it is sent to. */
  function strangeForm(asked: PageRequest, request: FastifyRequest, form: URLSearchParams): Answer | null {
    if (!isSameOrigin(request.headers)) {
      return refused(403, 'This form was sent by another site. Nothing was done.')
    }
    if (!forms.isValid(asked.path, form.get('token') ?? '')) {
      return refused(
        403,
        'This form is too old, or is not of this console. Nothing was done. Open the page again.',
      )
    }
    return null
  }

  async function carryOut(action: Action, asked: PageRequest, request: FastifyRequest): Promise<Answer> {
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
      if (error instanceof NotPossible || !isForPeople(error)) throw error
      return refused(409, [error.message, error.whatToDo].filter(Boolean).join(' '))
    }
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { section, access }: { readonly section: Section | null; readonly access: Page['access'] },
    work: (asked: PageRequest) => Promise<Answer>,
  ): Promise<FastifyReply> {
    const visitor = visitorFrom(request)
    if (!visitor) return unknownVisitor(request, reply)
    if (access === 'operate' && visitor.access !== 'operate') {
      return send(request, reply, { section, visitor }, needsOperate(request.url))
    }
    const now = target()
    if (!now || now.signal.aborted) return send(request, reply, { section, visitor }, notServing())
    const url = new URL(request.url, 'http://ferry')
    const asked = {
      path: url.pathname,
      params: request.params as Record<string, string>,
      query: url.searchParams,
      visitor,
      target: now,
      reader: now.reader,
    }
    const answered = await work(asked).catch(error => failed(error))
    return send(request, reply, { section, visitor }, answered)
  }

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    { section, visitor }: { readonly section: Section | null; readonly visitor: Visitor | null },
    answered: Answer,
  ): FastifyReply {
    reply.headers(HEADERS)
    if ('goTo' in answered) return reply.redirect(answered.goTo, 303)
    const { status, title, body, refreshEveryMs } = answered
    const timezone = target()?.timezone ?? 'UTC'
    const isFailure = status >= 500
    const frame: Frame = {
      title,
      section,
      here: request.url,
      visitor,
      timezone,
      isFailure,
      refreshEveryMs,
      assets,
    }
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .send(String(pageOf(frame, body)))
  }

  function visitorFrom({ headers, socket }: FastifyRequest): Visitor | null {
    return visitorOf(tokens, {
      authorization: headers.authorization,
      host: headers.host,
      remoteAddress: socket.remoteAddress,
      isForwarded: 'forwarded' in headers || 'x-forwarded-for' in headers,
    })
  }

  async function unknownVisitor(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const frame = { section: null, visitor: null }
    if (!tokens.operate && !tokens.read) {
      const words =
        'Without a token, the console is for this machine only. Set FERRY_CONSOLE_TOKEN to use it from elsewhere.'
      return send(request, reply, frame, refused(403, words))
    }
    // Without a token nobody guesses: a browser asks first without one.
    if (request.headers.authorization !== undefined) {
      const closed = new AbortController()
      reply.raw.once('close', () => closed.abort())
      if ((await brake.wait(closed.signal)) === 'too many') {
        return send(request, reply, frame, refused(429, 'Too many wrong tokens. Try again in some seconds.'))
      }
    }
    reply.header('www-authenticate', 'Basic realm="Ferry", charset="UTF-8"')
    const words =
      'The console needs a token. Write any name, and the token as the password. A script sends it as Authorization: Bearer.'
    return send(request, reply, frame, refused(401, words))
  }

  function failed(error: unknown): Answer {
    if (error instanceof BadQuery) return refused(400, error.message)
    if (error instanceof NotPossible) return notPossible(error.message, error.back)
    log.warn({ error: reasonOf(error) }, 'A page of the console failed.')
    return unreadable(error)
  }
}

function formIn({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

type ForPeople = Error & { readonly whatToDo?: string }

/** Errors of ours have names of their own, and messages for people. */
function isForPeople(error: unknown): error is ForPeople {
  return error instanceof Error && !(error instanceof DatabaseError) && !BUILT_IN.has(error.name)
}

const BUILT_IN: ReadonlySet<string> = new Set([
  'Error',
  'TypeError',
  'RangeError',
  'SyntaxError',
  'ReferenceError',
])
