import type { Logger } from 'pino'
import type { CallEnd } from '#src/model/call-end.ts'
import type { Secret } from '#src/model/secret.ts'
import { type Answer, readAnswer, type Scrub, type Verdict } from './answer.ts'
import { openCallWarnings } from './call-warnings.ts'
import { ImportBody, ImportData, McpPageData } from './contract.ts'
import { openRoute, type ProxyChoice } from './dispatcher.ts'
import { stringifyLossless } from './lossless-json.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { type Answered, type PermitUse, post, type Transport } from './post.ts'
import { retryListing } from './retry-listing.ts'
import { type AlertRulesBody, readAlertRules } from './rule-listing.ts'
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
  /** Lists the rules of a folder; 0 is every folder the caller may view. */
  listAlertRules(folderId: bigint, context: ListRulesContext): Promise<Answer<AlertRulesBody>>
  /** Lists one page of MCP servers, its rows as they came; `readMcpServers` puts pages together. */
  listMcpPage(ask: McpPageAsk, context: CallContext): Promise<Answer<McpPage>>
  /** Sends one batch, once: whether it may be sent again is not for a client to decide. Rejects only if nothing was sent. */
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
  /** From the moment a request is sent to the last byte of its answer. */
  readonly requestTimeoutMs: number
  readonly proxy?: ProxyChoice
  readonly log: Logger
}

export type CallContext = {
  /** The sync run on whose behalf the call is made, or null. */
  readonly runId: bigint | null
  readonly signal: AbortSignal
  /** Where this call's permit comes from, if not from the client's own throttle. */
  readonly throttle?: Throttle
}

export type ListRulesContext = CallContext & {
  /** Hashes of data already applied: a body that has one is neither parsed nor checked until its listing is asked for. */
  readonly knownHashes?: ReadonlySet<string>
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

export type McpPageAsk = { readonly page: number; readonly limit: number; readonly includeAccount: boolean }

export type McpPage = {
  readonly total: number
  readonly servers: readonly unknown[]
  /** Whether text in `servers` may need cleaning. */
  readonly mayBeDirty: boolean
}

/** Opens the client of one account. Dispose of it once its calls are done: those under way are cut off. */
export function openPlatformClient(options: ClientOptions): PlatformClient {
  const { account, log, requestTimeoutMs } = options
  const { permitGoodForMs, arrivalBoundMs } = options.throttle
  const { origin, pathname } = new URL(options.baseUrl)
  const key = options.appKey.reveal()
  const query = `?app_key=${encodeURIComponent(key)}`
  const route = openRoute(origin, options.baseUrlSetting, options.proxy, requestTimeoutMs)
  const transport: Transport = { ...route, origin, requestTimeoutMs, permitGoodForMs, arrivalBoundMs }
  const warnings = openCallWarnings(log, account, permitGoodForMs)
  const scrub: Scrub = text =>
    text.replaceAll(key, '<API_KEY>').replaceAll(encodeURIComponent(key), '<API_KEY>')

  async function send<T>(request: Request<T>, { permit, renewPermit }: PermitUse, signal: AbortSignal) {
    const { operation, body, read } = request
    const path = pathname.replace(/\/+$/, '') + OPERATIONS[operation].path + query
    const startedAtMs = performance.now()
    const renew: PermitUse['renewPermit'] = (expired, stopped) => {
      warnings.permitExpired(operation)
      return renewPermit(expired, stopped)
    }
    const exchange = await post(transport, { path, body, permit, renewPermit: renew }, signal)
    if (exchange.kind !== 'unsent') warnings.requestSent()
    const verdict = verdictOn(exchange, read, transport, scrub)
    const end = callEndOf(exchange, verdict)
    log.debug({ account, operation, ...end, ms: Math.round(performance.now() - startedAtMs) }, 'call ended')
    return exchange.kind === 'unsent'
      ? { answer: { ...verdict, requests: 0 }, permit: exchange.permit, end: null }
      : { answer: { ...verdict, requests: 1 }, permit: exchange.permit, end }
  }

  async function attempt<T>(request: Request<T>, context: CallContext): Promise<Answer<T>> {
    const { runId, signal, throttle = options.throttle } = context
    const call = { account, operation: request.operation, runId }
    const permit = await throttle.acquirePermit(call, signal)
    const renewPermit: PermitUse['renewPermit'] = async (expired, stopped) => {
      await throttle.returnPermit(expired)
      return throttle.acquirePermit(call, stopped)
    }
    const sent = await send(request, { permit, renewPermit }, signal)
    if (sent.end) await throttle.finishCall(sent.permit, sent.end)
    else if (sent.permit) await throttle.returnPermit(sent.permit)
    return sent.answer
  }

  function list<T>(request: Request<T>, context: CallContext): Promise<Answer<T>> {
    const { operation } = request
    return retryListing(() => attempt(request, context), {
      signal: context.signal,
      onTooFrequent: message => warnings.tooFrequent(operation, message),
      onRetry: (message, attempted) =>
        log.debug({ account, operation, attempted }, `${message} Trying again.`),
    })
  }

  return {
    listAlertRules: (folderId, context) =>
      list(
        {
          operation: 'list-alert-rules',
          body: jsonBytes({ folder_id: folderId }),
          read: answer => readAlertRules(answer, context.knownHashes ?? new Set(), scrub),
        },
        context,
      ),
    listMcpPage: ({ page, limit, includeAccount }, context) =>
      list(
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
    async importSubscribers(batch, { signal, ...permitUse }) {
      const request: Request<null> = {
        operation: 'import-subscribers',
        body: jsonBytes(ImportBody.parse(batch)),
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

type Request<T> = {
  readonly operation: Operation
  readonly body: Buffer
  readonly read: (answer: Answered) => Verdict<T>
}

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(stringifyLossless(value))
}
