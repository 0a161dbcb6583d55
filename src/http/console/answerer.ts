import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { type Access, createFailureBrake, type Tokens, type Visitor, visitorOf } from './access.ts'
import {
  type Answer,
  failedDecision,
  needsOperate,
  notPossible,
  notServing,
  refused,
  unreadable,
  wrongAddress,
} from './answers.ts'
import type { Assets } from './assets.ts'
import { pageOf } from './layout.ts'
import { BadQuery, NotPossible, type PageRequest, type Section } from './page.ts'
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

/** What proxies add to the requests that they pass on. */
const PROXY_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
]

/** Returns what lets visitors in, and puts each answer into a page. */
export function createAnswerer({ tokens, log, assets, target }: AnswererOptions): Answerer {
  const brake = createFailureBrake()

  function visitorFrom({ headers, socket }: FastifyRequest): Visitor | null {
    return visitorOf(tokens, {
      authorization: headers.authorization,
      host: headers.host,
      remoteAddress: socket.remoteAddress,
      isForwarded: PROXY_HEADERS.some(name => name in headers),
    })
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

  async function refuseVisitor(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const refuse = (status: number, words: string) =>
      send(request, reply, { section: null, visitor: null }, refused(status, words))
    if (!tokens.operate && !tokens.read) {
      return refuse(
        403,
        'Without a token, the console is for this machine only. Set FERRY_CONSOLE_TOKEN to use it from elsewhere.',
      )
    }
    // Who gives no token guesses none: a browser asks without one first.
    if (request.headers.authorization !== undefined) {
      const closed = new AbortController()
      reply.raw.once('close', () => closed.abort())
      const turn = await brake.wait(closed.signal)
      if (turn === 'too many') return refuse(429, 'Too many wrong tokens. Try again in some seconds.')
    }
    reply.header('www-authenticate', 'Basic realm="Ferry", charset="UTF-8"')
    return refuse(
      401,
      'The console needs a token. Write any name, and the token as the password. A script sends it as Authorization: Bearer.',
    )
  }

  return {
    async answer(request, reply, place, work) {
      const { section, access } = place
      const visitor = visitorFrom(request)
      if (!visitor) return refuseVisitor(request, reply)
      const may = access === 'read' || visitor.access === 'operate'
      const answer = may ? await workFor(request, visitor, place, work) : needsOperate(request.url)
      return send(request, reply, { section, visitor }, answer)
    },
    async signIn(request, reply) {
      if (visitorFrom(request)?.access !== 'operate') return refuseVisitor(request, reply)
      const to = addressOf(request).searchParams.get('to') ?? '/'
      return reply.redirect(isPathHere(to) ? to : '/', 303)
    },
  }
}

/** The address that was asked for, on no host: two slashes begin a path here, and a host was checked by the listener. */
function addressOf({ url }: FastifyRequest): URL {
  const path = url.replace(/^\w+:\/\/[^/?#]*/, '')
  return new URL(`http://ferry${path.startsWith('/') ? '' : '/'}${path}`)
}

/** Whether it leads to a page of this server, and to no other one. */
function isPathHere(to: string): boolean {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(to)
}
