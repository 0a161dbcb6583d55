import type { Logger } from 'pino'
import type { AlertRule } from '#src/model/alert-rule.ts'
import type { CallEnd, CallObserver, Permit } from '#src/model/call.ts'
import type { Secret } from '#src/model/secret.ts'
import { type Answer, readAnswer, type Scrub, type Verdict, withShortMessage } from './answer.ts'
import { CallWarnings } from './call-warnings.ts'
import { AlertRulesData, ImportBody, ImportData } from './contract.ts'
import { openRoute, type ProxyChoice } from './dispatcher.ts'
import { listPage, type McpPage, type McpPageAsk } from './list-page.ts'
import type { FindKnown, Listing } from './listing.ts'
import { OPERATIONS } from './operations.ts'
import { type PermitUse, post, type Transport, Turns } from './post.ts'
import { readWhole } from './read-body.ts'
import { callEndOf, jsonBytes, listRequest, type PlatformRequest, verdictOn } from './request.ts'
import { retryListing } from './retry-listing.ts'
import { ALERT_RULES } from './row-kinds.ts'
import type { Throttle } from './throttle.ts'
import { withoutKey } from './without-key.ts'

/**
 * The platform's three operations, for one account. Every request has its own permit.
 *
 *   a listing   acquirePermit -> post -> read the answer -> finishCall -> data, or a refusal -> once more?
 *   an import   the caller's permit -> post -> read the answer -> data, or a refusal
 *
 * A refusal is a value. A call rejects only for the caller's signal or a fault of ours.
 */
export type PlatformClient = AsyncDisposable & {
  /**
   * Lists the rules of a folder; 0 is every folder the caller may view. The call begins when the first step is pulled. Rows
   * that `find` knows are not parsed.
   */
  listAlertRules(folderId: bigint, find: FindKnown, context: CallContext): Listing<AlertRule>
  /** Lists one page of MCP servers; `listMcpServers` puts pages together. */
  listMcpPage(ask: McpPageAsk, context: CallContext): Promise<Answer<McpPage>>
  /**
   * Sends one batch once: the caller decides whether it is sent again. The message of a refusal is not shortened, and may name
   * recipients. Rejects only if nothing was sent.
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
  /** Where the key was set, for messages. */
  readonly keySetting: string
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
  /** The source of this call's permit, if not the client's own throttle. */
  readonly throttle?: Throttle
  /** Attempts at a listing that fails. */
  readonly maxAttempts?: number
}

/** The caller's permit, and the signal that cuts the call off: then its outcome is uncertain. */
export type ImportCallContext = PermitUse & { readonly signal: AbortSignal }

/**
 * The result of a call, and what the caller must do with its permit: record the end of the call, or return the permit if
 * nothing was sent (`end` is null). `permit` is null if it was returned already and no other was acquired.
 */
export type ImportCall = { readonly answer: Answer<null> } & (
  | { readonly permit: Permit; readonly end: CallEnd }
  | { readonly permit: Permit | null; readonly end: null }
)

/** Opens the client of one account. Disposing it cuts off the calls under way. */
export function openPlatformClient(options: ClientOptions): PlatformClient {
  const calls = new Calls(options)
  return {
    async *listAlertRules(folderId, find, context) {
      const body = { folder_id: folderId }
      const request = listRequest('list-alert-rules', body, ALERT_RULES, AlertRulesData, find)
      const answer = yield* calls.list(request, context)
      const ended = answer.ok ? { ...answer, data: answer.data.listing } : answer
      yield { kind: 'ended', pages: answer.ok ? 1 : 0, answer: ended }
    },
    listMcpPage: (ask, context) => listPage(ask, request => calls.list(request, context)),
    async importSubscribers(batch, { signal, ...permitUse }) {
      const request: PlatformRequest<never, Buffer, null> = {
        operation: 'import-subscribers',
        body: jsonBytes(ImportBody.parse(batch)),
        // biome-ignore lint/correctness/useYield: its answer is read at once
        async *receive(_head, chunks) {
          return readWhole(chunks)
        },
        read: (answer, scrub) => {
          const verdict = readAnswer(answer, ImportData, scrub)
          return verdict.ok ? { ...verdict, data: null } : verdict
        },
      }
      const { value: sent } = await calls.send(request, permitUse, signal).next()
      if (sent.end === null) signal.throwIfAborted()
      return sent
    },
    [Symbol.asyncDispose]: () => calls.close(),
  }
}

/** The calls of one account. */
class Calls {
  readonly #options: ClientOptions
  readonly #transport: Transport
  readonly #warnings: CallWarnings
  /** The key of the last call, and the one before it: an answer may still repeat that. */
  #keys: readonly string[] = []
  /** May have a path, without a slash at its end. */
  readonly #basePath: string

  constructor(options: ClientOptions) {
    const { account, log, requestTimeoutMs, throttle, baseUrlSetting, proxy } = options
    const { permitGoodForMs, arrivalBoundMs } = throttle
    const { origin, pathname } = new URL(options.baseUrl)
    const route = openRoute(origin, baseUrlSetting, proxy, requestTimeoutMs)
    this.#options = options
    this.#transport = {
      ...route,
      origin,
      requestTimeoutMs,
      permitGoodForMs,
      arrivalBoundMs,
      turns: new Turns(),
    }
    this.#warnings = new CallWarnings(log, account, permitGoodForMs)
    this.#basePath = pathname.replace(/\/+$/, '')
  }

  /** Repeats a listing until it succeeds, or another attempt would not help. */
  list<Step, Body, T>(
    request: PlatformRequest<Step, Body, T>,
    context: CallContext,
  ): AsyncGenerator<Step, Answer<T>> {
    const { account, log } = this.#options
    const { operation } = request
    return retryListing(() => this.#attempt(request, context), {
      signal: context.signal,
      maxAttempts: context.maxAttempts,
      onTooFrequent: message => this.#warnings.tooFrequent(operation, message),
      onRetry: (message, attempted) =>
        log.debug({ account, operation, attempted }, `${message} Trying again.`),
    })
  }

  /** Sends a request once, with a permit of its own. */
  async *#attempt<Step, Body, T>(
    request: PlatformRequest<Step, Body, T>,
    context: CallContext,
  ): AsyncGenerator<Step, Answer<T>> {
    const { account, observer } = this.#options
    const { runId, signal, throttle = this.#options.throttle } = context
    const call = { account, operation: request.operation, runId }
    const askedAtMs = performance.now()
    let permit = await throttle.acquirePermit(call, signal)
    observer?.waited(account, request.operation, performance.now() - askedAtMs)
    const renewPermit: PermitUse['renewPermit'] = async (expired, stopped) => {
      await throttle.returnPermit(expired)
      permit = await throttle.acquirePermit(call, stopped)
      return permit
    }
    let isLeft = true
    try {
      const sent = yield* this.send(request, { permit, renewPermit }, signal)
      isLeft = false
      if (sent.end) await throttle.finishCall(sent.permit, sent.end)
      else if (sent.permit) await throttle.returnPermit(sent.permit)
      return withShortMessage(sent.answer)
    } catch (error) {
      isLeft = false
      throw error
    } finally {
      if (isLeft) await throttle.finishCall(permit, LEFT)
    }
  }

  /** Sends a request once, with the caller's permit. */
  async *send<Step, Body, T>(
    { operation, body, receive, read }: PlatformRequest<Step, Body, T>,
    { permit, renewPermit }: PermitUse,
    signal: AbortSignal,
  ) {
    const { account, log, observer } = this.#options
    const path = `${this.#basePath}${OPERATIONS[operation].path}?app_key=${encodeURIComponent(this.#keyNow())}`
    const startedAtMs = performance.now()
    const renew: PermitUse['renewPermit'] = (expired, stopped) => {
      this.#warnings.permitExpired(operation)
      return renewPermit(expired, stopped)
    }
    const exchange = yield* post(this.#transport, { path, body, permit, renewPermit: renew, receive }, signal)
    if (exchange.kind !== 'unsent') this.#warnings.requestSent()
    const verdict = this.#namingKey(
      verdictOn(exchange, answer => read(answer, this.#scrub), this.#transport, this.#scrub),
    )
    const end = callEndOf(exchange, verdict)
    const ms = performance.now() - startedAtMs
    log.debug({ account, operation, ...end, ms: Math.round(ms) }, 'call ended')
    const { httpStatus, errorCode } = end
    if (exchange.kind !== 'unsent') observer?.ended({ account, operation, httpStatus, errorCode, ms })
    return exchange.kind === 'unsent'
      ? { answer: { ...verdict, requests: 0 }, permit: exchange.permit, end: null }
      : { answer: { ...verdict, requests: 1 }, permit: exchange.permit, end }
  }

  /** If the platform does not accept the key, its setting is what a person looks for. */
  #namingKey<T>(verdict: Verdict<T>): Verdict<T> {
    if (verdict.ok || verdict.refusal.kind !== 'unauthorized') return verdict
    const { account, keySetting } = this.#options
    const whatToDo = `Check the app_key of account ${account} (${keySetting}); create a new one if it has expired.`
    return { ok: false, refusal: { ...verdict.refusal, whatToDo } }
  }

  close(): Promise<void> {
    return this.#transport.dispatcher.destroy()
  }

  /** A key in a file may have been rotated since the last call. */
  #keyNow(): string {
    const key = this.#options.appKey.reveal()
    if (key !== this.#keys[0]) this.#keys = [key, ...this.#keys].slice(0, 2)
    return key
  }

  readonly #scrub: Scrub = text => this.#keys.reduce(withoutKey, text)
}

/** The end of a call whose reader stopped before the last row. */
const LEFT: CallEnd = {
  answeredAtMs: null,
  httpStatus: null,
  errorCode: 'NoAnswer',
  requestId: null,
  isOverLimit: false,
  retryAfterMs: null,
}
