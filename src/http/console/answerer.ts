import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { HISTORY_REMOVED } from '#src/model/history-removed.ts'
import { reasonOf } from '#src/model/reason.ts'
import type { TrustedProxy } from '#src/model/settings.ts'
import type { Checked, TokenGuard } from '../token-guard.ts'
import { type Access, actorOf, type Tokens, type Visitor, visitorOf } from './access.ts'
import {
  type Answer,
  failedDecision,
  needsGroup,
  needsOperate,
  needsToken,
  notPossible,
  notServing,
  refused,
  tooManyTokens,
  unreadable,
  usedCode,
  wrongAddress,
} from './answers.ts'
import type { Assets } from './assets.ts'
import { pageOf } from './layout.ts'
import { BadQuery, NotPossible, type PageRequest, type Section } from './page.ts'
import { type Cookies, createCookies, type OneTimeCode } from './sign-in.ts'
import type { ConsoleTarget } from './target.ts'
import { createProxyTrust } from './trusted-proxy.ts'

/** The section of a page, and the access that it needs. */
export type Place = {
  readonly section: Section | null
  readonly access: Access
  /** For decisions: the page of what they are about. */
  backFrom?(params: PageRequest['params']): string
}

export type AnswererOptions = {
  readonly tokens: Tokens
  /** Signs in one browser; null if people have the tokens. */
  readonly code: OneTimeCode | null
  /** Signs people in before their requests come here; null: nobody does. */
  readonly proxy: TrustedProxy | null
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

/** Lets visitors in, and puts each answer into a page. */
export class Answerer {
  readonly #options: AnswererOptions
  readonly #cookies: Cookies
  readonly #namedByProxy: ReturnType<typeof createProxyTrust>

  constructor(options: AnswererOptions) {
    this.#options = options
    this.#cookies = createCookies(options.tokens)
    this.#namedByProxy = createProxyTrust(options.proxy, options.log)
  }

  /** Answers with the result of `work` if the visitor has access, or with a page that says why not. */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    place: Place,
    work: (asked: PageRequest) => Promise<Answer>,
  ): Promise<FastifyReply> {
    const { section, access } = place
    const found = this.#identify(request)
    if (found.is !== 'right') return this.#refuseVisitor(request, reply, found)
    const visitor = found.value
    this.#rememberBrowser(request, reply, visitor)
    const hasAccess = access === 'read' || visitor.access === 'operate'
    const answer = hasAccess
      ? await this.#workFor(request, visitor, place, work)
      : visitor.byProxy
        ? needsGroup(visitor.actor)
        : needsOperate(request.url)
    return this.#send(request, reply, { section, visitor }, answer)
  }

  /** A browser asks a person for another token only after a 401. Goes on to `to` once the token allows operating. */
  async signIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { searchParams } = addressOf(request)
    const code = searchParams.get('code')
    if (code !== null) return this.#signInByCode(request, reply, code)
    const found = this.#identify(request)
    if (found.is !== 'right') return this.#refuseVisitor(request, reply, found)
    const visitor = found.value
    if (visitor.byProxy && visitor.access !== 'operate') {
      return this.#send(request, reply, { section: null, visitor }, needsGroup(visitor.actor))
    }
    if (found.value.access !== 'operate') return this.#refuseVisitor(request, reply, { is: 'unknown' })
    this.#rememberBrowser(request, reply, found.value)
    return reply.redirect(pathHere(searchParams.get('to') ?? '/'), 303)
  }

  /**
   * Whom the proxy has signed in is that person, whatever else the request has: it may pass on a token of its own. The token
   * comes before the cookie: it may allow more. Cookies still work for an address that has to wait.
   */
  #identify(request: FastifyRequest): Checked<Visitor> | Unknown {
    const { guard, tokens } = this.#options
    const { headers, socket } = request
    const named = this.#namedByProxy(request)
    if (named.is === 'named') return { is: 'right', value: named.visitor }
    if (named.is === 'refused') return named
    const { authorization, cookie } = headers
    const known = this.#cookies.read(cookie, socket.localPort)
    const checked =
      authorization === undefined
        ? { is: 'unknown' as const }
        : guard.check('console', socket.remoteAddress, () => visitorOf(tokens, authorization))
    return checked.is !== 'right' && known ? { is: 'right', value: known } : checked
  }

  /** A browser sends what a person typed with every request (Basic); a script keeps no cookie. */
  #rememberBrowser({ headers, socket }: FastifyRequest, reply: FastifyReply, visitor: Visitor): void {
    if (visitor.byProxy) return
    const known = this.#cookies.read(headers.cookie, socket.localPort)
    if (known?.actor === visitor.actor || !/^basic /i.test(headers.authorization ?? '')) return
    reply.header('set-cookie', this.#cookies.issue(visitor, socket.localPort))
  }

  async #workFor(
    request: FastifyRequest,
    visitor: Visitor,
    { backFrom }: Place,
    work: (asked: PageRequest) => Promise<Answer>,
  ): Promise<Answer> {
    const target = this.#options.target()
    if (!target || target.signal.aborted) return notServing()
    const { pathname: path, searchParams: query } = addressOf(request)
    const params = request.params as Record<string, string>
    try {
      return await work({ path, params, query, visitor, target, reader: target.reader })
    } catch (error) {
      if (error instanceof BadQuery) return wrongAddress(error.message, path)
      if (error instanceof DatabaseError && error.code === HISTORY_REMOVED)
        return wrongAddress(`${error.message} ${error.hint}`, path)
      if (error instanceof NotPossible) return notPossible(error.message, error.back)
      this.#options.log.warn({ error: reasonOf(error) }, 'A page of the console failed.')
      return request.method === 'POST' && backFrom
        ? failedDecision(error, path, backFrom(params))
        : unreadable(error)
    }
  }

  #refuseVisitor(request: FastifyRequest, reply: FastifyReply, found: Unknown): FastifyReply {
    if (found.is === 'refused') return this.#send(request, reply, NOBODY, refused(403, found.why))
    reply.header('www-authenticate', 'Basic realm="Ferry", charset="UTF-8"')
    if (found.is === 'wait') reply.header('retry-after', found.seconds)
    const answer =
      found.is === 'wait'
        ? tooManyTokens(found.seconds)
        : needsToken(pathHere(request.url), this.#options.code !== null)
    return this.#send(request, reply, NOBODY, answer)
  }

  /** The address that `ferry up` prints. A program that looks at an address before a person opens it sends HEAD. */
  #signInByCode(request: FastifyRequest, reply: FastifyReply, given: string): FastifyReply {
    const { code, guard } = this.#options
    const { remoteAddress, localPort } = request.socket
    const used =
      request.method === 'GET' ? guard.check('console', remoteAddress, () => code?.use(given) || null) : null
    if (used?.is === 'right') {
      const visitor = { access: 'operate', actor: actorOf('operate') } as const
      reply.header('set-cookie', this.#cookies.issue(visitor, localPort))
      return this.#send(request, reply, { section: null, visitor }, { goTo: '/' })
    }
    if (this.#identify(request).is === 'right') return reply.redirect('/', 303)
    if (used?.is === 'wait') return this.#refuseVisitor(request, reply, used)
    return this.#send(request, reply, NOBODY, usedCode())
  }

  #send(
    { url: here }: FastifyRequest,
    reply: FastifyReply,
    { section, visitor }: Shown,
    answer: Answer,
  ): FastifyReply {
    reply.headers(HEADERS)
    if ('goTo' in answer) return reply.redirect(answer.goTo, 303)
    if ('file' in answer) {
      reply.header('content-disposition', `attachment; filename="${answer.file}"`)
      return reply.type('text/csv; charset=utf-8').send(Readable.from(answer.parts))
    }
    const { status, body, ...view } = answer
    const target = this.#options.target()
    // A page that fetches itself again and again would have the garbage collected each time.
    if (view.refreshEveryMs === undefined) target?.collectGarbageLater()
    const { assets } = this.#options
    const timezone = target?.timezone ?? 'UTC'
    const page = pageOf({ ...view, section, here, visitor, timezone, isFailure: status >= 500, assets }, body)
    return reply.code(status).type('text/html; charset=utf-8').send(String(page))
  }
}

/** Who looks at a page, and in which section it stands. */
type Shown = { readonly section: Section | null; readonly visitor: Visitor | null }

const NOBODY: Shown = { section: null, visitor: null }

type Unknown =
  | Exclude<Checked<Visitor>, { is: 'right' }>
  | { readonly is: 'unknown' }
  | { readonly is: 'refused'; readonly why: string }

/** The address that was asked for, on no host: two slashes begin a path here, and a host was checked by the listener. */
function addressOf({ url }: FastifyRequest): URL {
  const path = url.replace(/^\w+:\/\/[^/?#]*/, '')
  return new URL(`http://ferry${path.startsWith('/') ? '' : '/'}${path}`)
}

/** The path, if it leads to a page of this server and to no other one; else the first page. */
function pathHere(path: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : '/'
}
