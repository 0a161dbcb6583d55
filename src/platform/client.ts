import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Secret } from '#src/model/secret.ts'
import { isRedirect, readAnswer, readRedirect, requestIdOf, type Scrub, type Verdict } from './answer.ts'
import { ImportBody, ImportData, McpPageData } from './contract.ts'
import { openRoute, type ProxyChoice } from './dispatcher.ts'
import { stringifyLossless } from './lossless-json.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { type Answered, type Exchange, post } from './post.ts'
import { lost, notSent, type Refusal, type RefusalKind } from './refusal.ts'
import { type AlertRulesBody, readAlertRules } from './rule-listing.ts'
import type { CallEnd, Throttle } from './throttle.ts'

/**
 * The platform's three operations, for one account.
 *
 *   throttle.take -> post -> read the answer -> throttle.finish -> data, or a refusal -> once more?
 *
 * Every request has its own slot. A listing is tried three times with a growing back-off; a 429 costs no attempt:
 * `finish` has closed the throttle, and the next `take` waits. An import is tried once, since whether it may be sent
 * again is not for a client to decide. A refusal is a value. What rejects is the caller's signal or a fault of ours.
 */
export type PlatformClient = AsyncDisposable & {
  /** Lists the rules of a folder; 0 is every folder the caller may view. */
  listAlertRules(folderId: bigint, context: ListRulesContext): Promise<Answer<AlertRulesBody>>
  /** Lists one page of MCP servers, its rows as they came; `readMcpServers` puts pages together. */
  listMcpPage(ask: McpPageAsk, context: CallContext): Promise<Answer<McpPage>>
  /** Sends one batch, once. As soon as anything is sent the outcome is a value, an abort included. */
  importSubscribers(batch: ImportBody, context: CallContext): Promise<Answer<null>>
}

export type ClientOptions = {
  readonly account: string
  /** May have a path. */
  readonly baseUrl: string
  /** Where `baseUrl` was set, for messages. */
  readonly baseUrlSetting: string
  readonly appKey: Secret
  readonly throttle: Throttle
  /** From the moment a request is sent to the last byte of its answer. */
  readonly requestTimeoutMs: number
  readonly proxy?: ProxyChoice
  readonly log: Logger
}

export type CallContext = {
  /** The sync run on whose behalf the call is made, or null. */
  readonly runId: bigint | null
  readonly signal: AbortSignal
  /** Where this call's slot comes from and what hears of its end, if not the client's own throttle. */
  readonly throttle?: Throttle
}

export type ListRulesContext = CallContext & {
  /** Hashes of data already applied: a body that has one is neither parsed nor checked until its listing is asked for. */
  readonly knownHashes?: ReadonlySet<string>
}

/** `requests` counts what was sent for it, attempts that failed included. */
export type Answer<T> = { readonly requests: number } & (
  | { readonly ok: true; readonly data: T; readonly requestId: string }
  | { readonly ok: false; readonly refusal: Refusal }
)

export type McpPageAsk = { readonly page: number; readonly limit: number; readonly includeAccount: boolean }

export type McpPage = {
  readonly total: number
  readonly servers: readonly unknown[]
  /** Whether text in `servers` may need cleaning. */
  readonly mayBeDirty: boolean
}

const MOST_ATTEMPTS = 3
const STALE_BEFORE_WARNING = 10
const SAY_WAITING_EVERY_MS = 60_000
const FIRST_BACK_OFF_MS = 500
/** A `Retry-After` beyond it is not waited for: a run has ten minutes. */
const LONGEST_BACK_OFF_MS = 60_000

/** Opens the client of one account. Dispose of it once its calls are done: those under way are cut off. */
export function openPlatformClient(options: ClientOptions): PlatformClient {
  const { account, log, requestTimeoutMs } = options
  const { origin, pathname } = new URL(options.baseUrl)
  const key = options.appKey.reveal()
  const query = `?app_key=${encodeURIComponent(key)}`
  const route = openRoute(origin, options.baseUrlSetting, options.proxy, requestTimeoutMs)
  const line = { ...route, origin, requestTimeoutMs }
  const scrub: Scrub = text =>
    text.replaceAll(key, '<API_KEY>').replaceAll(encodeURIComponent(key), '<API_KEY>')

  let staleInARow = 0

  /** Without a word, nothing at all would be sent. */
  function noteStale(operation: Operation, throttle: Throttle): void {
    staleInARow += 1
    if (staleInARow % STALE_BEFORE_WARNING !== 0) return
    log.warn(
      { account, operation, staleInARow },
      `${staleInARow} permits in a row grew too old before a request could be sent with them, so nothing is sent. ` +
        `A permit is good for ${throttle.slotGoodForMs} ms, a fifth of FERRY_ARRIVAL_BOUND. ` +
        'Give this machine and the database less to do, or raise FERRY_ARRIVAL_BOUND.',
    )
  }

  let saidWaitingAtMs = Number.NEGATIVE_INFINITY

  /** A listing waits for as long as it takes, so nobody would hear of it from its end. */
  function noteTooFrequent(operation: Operation, message: string): void {
    const nowMs = performance.now()
    if (nowMs - saidWaitingAtMs < SAY_WAITING_EVERY_MS) return
    saidWaitingAtMs = nowMs
    log.warn({ account, operation }, `${message} Waiting until the limit lets calls through again.`)
  }

  function verdictOn<T>(exchange: Exchange, read: Request<T>['read']): Verdict<T> {
    if (exchange.kind === 'unsent') return { ok: false, refusal: notSent(exchange.fault) }
    if (exchange.kind === 'lost') {
      const { httpStatus, fault } = exchange
      const about = { httpStatus, requestId: requestIdOf(exchange, scrub), retryAfterMs: null }
      return { ok: false, refusal: lost(about, fault) }
    }
    if (!isRedirect(exchange.httpStatus)) return read(exchange)
    return { ok: false, refusal: readRedirect(exchange, route.where, origin, scrub) }
  }

  async function attempt<T>(request: Request<T>, context: CallContext): Promise<Answer<T>> {
    const { operation, body, read } = request
    const { runId, signal, throttle = options.throttle } = context
    const path = pathname.replace(/\/+$/, '') + OPERATIONS[operation].path + query
    const startedAtMs = performance.now()
    const exchange = await post(
      { ...line, throttle, onStale: () => noteStale(operation, throttle) },
      { call: { account, operation, runId }, path, body },
      signal,
    )
    if (exchange.kind !== 'unsent') staleInARow = 0
    const verdict = verdictOn(exchange, read)
    const end = endOf(exchange, verdict)
    log.debug({ account, operation, ...end, ms: Math.round(performance.now() - startedAtMs) }, 'call ended')
    if (exchange.kind === 'unsent') return { ...verdict, requests: 0 }
    await throttle.finish(exchange.slot, end)
    return { ...verdict, requests: 1 }
  }

  async function attempts<T>(request: Request<T>, context: CallContext): Promise<Answer<T>> {
    let requests = 0
    for (let attempted = 1; ; ) {
      const answer = await attempt(request, context)
      requests += answer.requests
      if (answer.ok) return { ...answer, requests }
      context.signal.throwIfAborted()
      const { kind, retryable, message } = answer.refusal
      if (kind === 'too-frequent') {
        noteTooFrequent(request.operation, message)
        continue
      }
      if (!retryable || attempted === MOST_ATTEMPTS) return { ...answer, requests }
      log.debug({ account, operation: request.operation, attempted }, `${message} Trying again.`)
      await backOff(attempted, answer.refusal.retryAfterMs, context.signal)
      attempted += 1
    }
  }

  return {
    listAlertRules: (folderId, context) =>
      attempts(
        {
          operation: 'list-alert-rules',
          body: jsonBytes({ folder_id: folderId }),
          read: answer => readAlertRules(answer, context.knownHashes ?? new Set(), scrub),
        },
        context,
      ),
    listMcpPage: ({ page, limit, includeAccount }, context) =>
      attempts(
        {
          operation: 'list-mcp-servers',
          body: jsonBytes({ p: page, limit, include_account: includeAccount }),
          read: answer => {
            const verdict = readAnswer(answer, McpPageData, scrub)
            if (!verdict.ok) return verdict
            const { value, mayBeDirty } = verdict.data
            return { ...verdict, data: { ...value, mayBeDirty } }
          },
        },
        context,
      ),
    importSubscribers: (batch, context) =>
      attempt(
        {
          operation: 'import-subscribers',
          body: jsonBytes(ImportBody.parse(batch)),
          read: answer => {
            const verdict = readAnswer(answer, ImportData, scrub)
            return verdict.ok ? { ...verdict, data: null } : verdict
          },
        },
        context,
      ),
    [Symbol.asyncDispose]: () => route.dispatcher.destroy(),
  }
}

type Request<T> = {
  readonly operation: Operation
  readonly body: Buffer
  readonly read: (answer: Answered) => Verdict<T>
}

function endOf(exchange: Exchange, verdict: Verdict<unknown>): CallEnd {
  if (verdict.ok) {
    const httpStatus = exchange.kind === 'answered' ? exchange.httpStatus : null
    return { answered: true, httpStatus, errorCode: null, requestId: verdict.requestId, retryAfterMs: null }
  }
  const { kind, httpStatus, code, requestId, retryAfterMs } = verdict.refusal
  const answered = httpStatus !== null && !UNCOUNTED.has(kind)
  return { answered, httpStatus, errorCode: code, requestId, retryAfterMs }
}

/** Answers that do not come from the platform. */
const UNCOUNTED: ReadonlySet<RefusalKind> = new Set(['no-envelope', 'redirected', 'proxy-auth'])

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(stringifyLossless(value))
}

/** Waits longer each time, and not in step with others who failed at the same moment. */
async function backOff(attempted: number, retryAfterMs: number | null, signal: AbortSignal): Promise<void> {
  const growing = FIRST_BACK_OFF_MS * 2 ** (attempted - 1) * (0.5 + Math.random() / 2)
  const ms = Math.min(Math.max(growing, retryAfterMs ?? 0), LONGEST_BACK_OFF_MS)
  await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
