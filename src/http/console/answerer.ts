import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import type { Checked, TokenGuard } from '../token-guard.ts'
import { type Access, actorOf, type Tokens, type Visitor, visitorOf } from './access.ts'
import {
  type Answer,
  failedDecision,
  needsOperate,
  needsToken,
  notPossible,
  notServing,
  tooManyTokens,
  unreadable,
  usedCode,
  wrongAddress,
} from './answers.ts'
import type { Assets } from './assets.ts'
import { pageOf } from './layout.ts'
import { BadQuery, NotPossible, type PageRequest, type Section } from './page.ts'
import { createCookies, type OneTimeCode } from './sign-in.ts'
import type { ConsoleTarget } from './target.ts'

/** Where a page stands, and who may see it. */
export type Place = {
  readonly section: Section | null
  readonly access: Access
  /** For decisions: the page of what they are about. */
  backFrom?(params: PageRequest['params']): string
}

export type Answerer = {
  /** Answers with what `work` comes to, if the visitor may, or with a page that says why not. */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    place: Place,
    work: (asked: PageRequest) => Promise<Answer>,
  ): Promise<FastifyReply>
  /** A browser asks a person for another token only after a 401. Goes on to `to` once the token may operate. */
  signIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
}

export type AnswererOptions = {
  readonly tokens: Tokens
  /** Signs in one browser; null where people know the tokens. */
  readonly code: OneTimeCode | null
  readonly guard: TokenGuard
  readonly log: Logger
  readonly assets: Assets
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

/** Returns what lets visitors in, and puts each answer into a page. */
export function createAnswerer(options: AnswererOptions): Answerer {
  const { tokens, code, guard, log, assets, target } = options
  const cookies = createCookies(tokens)

  /** The token comes first: it may allow more than the cookie. An address that is braked still has its cookies. */
  function identify({ headers, socket }: FastifyRequest): Checked<Visitor> | { readonly is: 'unknown' } {
    const { authorization, cookie } = headers
    const known = cookies.read(cookie, socket.localPort)
    const checked =
      authorization === undefined
        ? { is: 'unknown' as const }
        : guard.check('console', socket.remoteAddress, () => visitorOf(tokens, authorization))
    return checked.is !== 'right' && known ? { is: 'right', value: known } : checked
  }

  /** A browser sends what a person typed with every request (Basic); a script keeps no cookie. */
  function rememberBrowser({ headers, socket }: FastifyRequest, reply: FastifyReply, visitor: Visitor): void {
    const known = cookies.read(headers.cookie, socket.localPort)
    if (known?.actor === visitor.actor || !/^basic /i.test(headers.authorization ?? '')) return
    reply.header('set-cookie', cookies.issue(visitor, socket.localPort))
  }

  async function workFor(
    request: FastifyRequest,
    visitor: Visitor,
    { backFrom }: Place,
    work: (asked: PageRequest) => Promise<Answer>,
  ): Promise<Answer> {
    const now = target()
    if (!now || now.signal.aborted) return notServing()
    const { pathname, searchParams } = addressOf(request)
    const asked: PageRequest = {
      path: pathname,
      params: request.params as Record<string, string>,
      query: searchParams,
      visitor,
      target: now,
      reader: now.reader,
    }
    try {
      return await work(asked)
    } catch (error) {
      if (error instanceof BadQuery) return wrongAddress(error.message, pathname)
      if (error instanceof NotPossible) return notPossible(error.message, error.back)
      log.warn({ error: reasonOf(error) }, 'A page of the console failed.')
      return request.method === 'POST' && backFrom
        ? failedDecision(error, pathname, backFrom(asked.params))
        : unreadable(error)
    }
  }

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    { section, visitor }: { readonly section: Section | null; readonly visitor: Visitor | null },
    answer: Answer,
  ): FastifyReply {
    reply.headers(HEADERS)
    if ('goTo' in answer) return reply.redirect(answer.goTo, 303)
    const { status, title, heading, body, refreshEveryMs } = answer
    // One that fetches itself is the same again: whoever leaves it open would have the garbage collected each time.
    if (refreshEveryMs === undefined) target()?.collectGarbageLater()
    const timezone = target()?.timezone ?? 'UTC'
    const isFailure = status >= 500
    const frame = {
      title,
      heading,
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

  function refuseVisitor(request: FastifyRequest, reply: FastifyReply, found: Unknown): FastifyReply {
    reply.header('www-authenticate', 'Basic realm="Ferry", charset="UTF-8"')
    if (found.is === 'wait') reply.header('retry-after', found.seconds)
    const answer =
      found.is === 'wait' ? tooManyTokens(found.seconds) : needsToken(pathHere(request.url), code !== null)
    return send(request, reply, { section: null, visitor: null }, answer)
  }

  /** The address that `ferry up` prints. HEAD is what a program asks that looks at an address before a person does. */
  function signInByCode(request: FastifyRequest, reply: FastifyReply, given: string): FastifyReply {
    if (request.method === 'GET' && code?.use(given)) {
      const visitor = { access: 'operate', actor: actorOf('operate') } as const
      reply.header('set-cookie', cookies.issue(visitor, request.socket.localPort))
      return send(request, reply, { section: null, visitor }, { goTo: '/' })
    }
    if (identify(request).is === 'right') return reply.redirect('/', 303)
    return send(request, reply, { section: null, visitor: null }, usedCode())
  }

  return {
    async answer(request, reply, place, work) {
      const { section, access } = place
      const found = identify(request)
      if (found.is !== 'right') return refuseVisitor(request, reply, found)
      const visitor = found.value
      rememberBrowser(request, reply, visitor)
      const may = access === 'read' || visitor.access === 'operate'
      const answer = may ? await workFor(request, visitor, place, work) : needsOperate(request.url)
      return send(request, reply, { section, visitor }, answer)
    },
    async signIn(request, reply) {
      const { searchParams } = addressOf(request)
      const given = searchParams.get('code')
      if (given !== null) return signInByCode(request, reply, given)
      const found = identify(request)
      if (found.is !== 'right') return refuseVisitor(request, reply, found)
      if (found.value.access !== 'operate') return refuseVisitor(request, reply, { is: 'unknown' })
      rememberBrowser(request, reply, found.value)
      return reply.redirect(pathHere(searchParams.get('to') ?? '/'), 303)
    },
  }
}

type Unknown = Exclude<Checked<Visitor>, { is: 'right' }> | { readonly is: 'unknown' }

/** The address that was asked for, on no host: two slashes begin a path here, and a host was checked by the listener. */
function addressOf({ url }: FastifyRequest): URL {
  const path = url.replace(/^\w+:\/\/[^/?#]*/, '')
  return new URL(`http://ferry${path.startsWith('/') ? '' : '/'}${path}`)
}

/** The path, if it leads to a page of this server and to no other one; else the first page. */
function pathHere(path: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : '/'
}
