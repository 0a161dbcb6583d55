import type { Logger } from 'pino'
import type { AlertRule } from '#src/model/alert-rule.ts'
import type { CallEnd } from '#src/model/call-end.ts'
import type { CallObserver } from '#src/model/call-observer.ts'
import type { Secret } from '#src/model/secret.ts'
import { type Answer, readAnswer, type Scrub, withShortMessage } from './answer.ts'
import { openCallWarnings } from './call-warnings.ts'
import { ImportBody, ImportData } from './contract.ts'
import { openRoute, type ProxyChoice } from './dispatcher.ts'
import { listPageRequest, type McpPage, type McpPageAsk } from './list-page.ts'
import { listRulesRequest } from './list-rules.ts'
import { OPERATIONS } from './operations.ts'
import { type PermitUse, post, type Transport } from './post.ts'
import { readWhole } from './read-body.ts'
import { jsonBytes, type PlatformRequest } from './request.ts'
import { retryListing } from './retry-listing.ts'
import type { ListingEnd, RowSink } from './row-sink.ts'
import type { Permit, Throttle } from './throttle.ts'
import { callEndOf, verdictOn } from './verdict.ts'

/**
 * The platform's three operations, for one account. Every request has its own permit.
 *
 *   a listing   acquirePermit -> post -> read the answer -> finishCall -> data, or a refusal -> once more?
 *   an import   the caller's permit -> post -> read the answer -> data, or a refusal
 *
 * A refusal is a value. What rejects is the caller's signal or a fault of ours.
 */
export type PlatformClient = AsyncDisposable & {
  /**
   * Lists the rules of a folder; 0 is every folder the caller may view. Its rows go to `sink` while they come, and count
   * only if the answer is good. Rejects also with what `sink` rejects with.
   */
  listAlertRules(
    folderId: bigint,
    sink: RowSink<AlertRule>,
    context: CallContext,
  ): Promise<Answer<ListingEnd>>
  /** Lists one page of MCP servers, its rows as they came; `readMcpServers` puts pages together. */
  listMcpPage(ask: McpPageAsk, context: CallContext): Promise<Answer<McpPage>>
  /**
   * Sends one batch, once: whether it may be sent again is not for a client to decide. The message of a refusal is whole, and
   * may name recipients. Rejects only if nothing was sent.
   */
  importSubscribers(batch: ImportBody, context: ImportCallContext): Promise<ImportCall>
}

export type ClientOptions = {
  readonly account: string
  /** May have a path. */
  readonly baseUrl: string
  /** Where `baseUrl` was set, for messages. */
  readonly baseUrlSetting: string
  readonly appKey: Secret
  readonly throttle: Throttle
  /** How long the platform may take, from the moment a request is sent to the last byte of its answer. */
  readonly requestTimeoutMs: number
  readonly proxy?: ProxyChoice
  readonly log: Logger
  readonly observer?: CallObserver | undefined
}

export type CallContext = {
  /** The sync run on whose behalf the call is made, or null. */
  readonly runId: bigint | null
  readonly signal: AbortSignal
  /** Where this call's permit comes from, if not from the client's own throttle. */
  readonly throttle?: Throttle
  /** How many attempts are made at a listing that fails. */
  readonly maxAttempts?: number
}

/** The caller's permit, and what cuts the call off: its outcome is uncertain then. */
export type ImportCallContext = PermitUse & { readonly signal: AbortSignal }

/**
 * What a call came to, and what the caller is to do about its permit: record the end of the call, or return the permit if
 * nothing was sent (`end` is null). `permit` is null if the last one was returned and no other was acquired.
 */
export type ImportCall = { readonly answer: Answer<null> } & (
  | { readonly permit: Permit; readonly end: CallEnd }
  | { readonly permit: Permit | null; readonly end: null }
)

/** Opens the client of one account. Dispose of it once its calls are done: those under way are cut off. */
export function openPlatformClient(options: ClientOptions): PlatformClient {
  const { account, log, requestTimeoutMs, observer } = options
  const { permitGoodForMs, arrivalBoundMs } = options.throttle
  const { origin, pathname } = new URL(options.baseUrl)
  const key = options.appKey.reveal()
  const query = `?app_key=${encodeURIComponent(key)}`
  const route = openRoute(origin, options.baseUrlSetting, options.proxy, requestTimeoutMs)
  const transport: Transport = { ...route, origin, requestTimeoutMs, permitGoodForMs, arrivalBoundMs }
  const warnings = openCallWarnings(log, account, permitGoodForMs)
  const scrub: Scrub = text =>
    text.replaceAll(key, '<API_KEY>').replaceAll(encodeURIComponent(key), '<API_KEY>')

  async function send<Body, T>(
    request: PlatformRequest<Body, T>,
    { permit, renewPermit }: PermitUse,
    signal: AbortSignal,
  ) {
    const { operation, body, receive, read } = request
    const path = pathname.replace(/\/+$/, '') + OPERATIONS[operation].path + query
    const startedAtMs = performance.now()
    const renew: PermitUse['renewPermit'] = (expired, stopped) => {
      warnings.permitExpired(operation)
      return renewPermit(expired, stopped)
    }
    const exchange = await post(transport, { path, body, permit, renewPermit: renew, receive }, signal)
    if (exchange.kind !== 'unsent') warnings.requestSent()
    const verdict = verdictOn(exchange, answer => read(answer, scrub), transport, scrub)
    const end = callEndOf(exchange, verdict)
    const ms = performance.now() - startedAtMs
    log.debug({ account, operation, ...end, ms: Math.round(ms) }, 'call ended')
    const { httpStatus, errorCode } = end
    if (exchange.kind !== 'unsent') observer?.ended({ account, operation, httpStatus, errorCode, ms })
    return exchange.kind === 'unsent'
      ? { answer: { ...verdict, requests: 0 }, permit: exchange.permit, end: null }
      : { answer: { ...verdict, requests: 1 }, permit: exchange.permit, end }
  }

  async function attempt<Body, T>(
    request: PlatformRequest<Body, T>,
    context: CallContext,
  ): Promise<Answer<T>> {
    const { runId, signal, throttle = options.throttle } = context
    const call = { account, operation: request.operation, runId }
    const askedAtMs = performance.now()
    const permit = await throttle.acquirePermit(call, signal)
    observer?.waited(account, request.operation, performance.now() - askedAtMs)
    const renewPermit: PermitUse['renewPermit'] = async (expired, stopped) => {
      await throttle.returnPermit(expired)
      return throttle.acquirePermit(call, stopped)
    }
    const sent = await send(request, { permit, renewPermit }, signal)
    if (sent.end) await throttle.finishCall(sent.permit, sent.end)
    else if (sent.permit) await throttle.returnPermit(sent.permit)
    return withShortMessage(sent.answer)
  }

  function list<Body, T>(
    request: PlatformRequest<Body, T>,
    context: CallContext,
    sendOnce = () => attempt(request, context),
  ): Promise<Answer<T>> {
    const { operation } = request
    return retryListing(sendOnce, {
      signal: context.signal,
      maxAttempts: context.maxAttempts,
      onTooFrequent: message => warnings.tooFrequent(operation, message),
      onRetry: (message, attempted) =>
        log.debug({ account, operation, attempted }, `${message} Trying again.`),
    })
  }

  return {
    async listAlertRules(folderId, sink, context) {
      const guarded = rememberingFailure(sink)
      const request = listRulesRequest(folderId, guarded.sink)
      return list(request, context, async () => {
        const answer = await attempt(request, context)
        if (guarded.failure) throw guarded.failure.error
        return answer
      })
    },
    listMcpPage: (ask, context) => list(listPageRequest(ask), context),
    async importSubscribers(batch, { signal, ...permitUse }) {
      const request: PlatformRequest<Buffer, null> = {
        operation: 'import-subscribers',
        body: jsonBytes(ImportBody.parse(batch)),
        receive: (_head, chunks) => readWhole(chunks),
        read: answer => {
          const verdict = readAnswer(answer, ImportData, scrub)
          return verdict.ok ? { ...verdict, data: null } : verdict
        },
      }
      const sent = await send(request, permitUse, signal)
      if (sent.end === null) signal.throwIfAborted()
      return sent
    },
    [Symbol.asyncDispose]: () => route.dispatcher.destroy(),
  }
}

/** Passes on to `sink`. A call that it failed has no answer, and is not made again. */
function rememberingFailure<Row>(sink: RowSink<Row>) {
  const state = { failure: null as { readonly error: unknown } | null, sink }
  const remember = (error: unknown): never => {
    state.failure ??= { error }
    throw error
  }
  state.sink = {
    ...sink,
    ready: () => sink.ready().catch(remember),
    settle: () => sink.settle().catch(remember),
  }
  return state
}
