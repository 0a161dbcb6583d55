import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation } from '#src/model/call.ts'
import { OPERATIONS } from '#src/platform/operations.ts'
import { type Answer, envelope, type Result } from './answer.ts'
import { type Refusal, refuse } from './errors.ts'
import { faultAnswer, type NoAnswer } from './fault-answer.ts'
import { Fault } from './faults.ts'
import { parseJson } from './json.ts'
import { type AppKey, type Permission, validKey } from './keys.ts'
import { firstHalf, importSubscribers, listRules, listServers } from './operations.ts'
import type { Latency } from './options.ts'
import { between } from './random.ts'
import { type Received, summarise } from './received.ts'
import type { SandboxState } from './state.ts'

/** A request whose path, method and content type are valid. */
export type Call = {
  readonly operation: Operation
  readonly appKey: unknown
  /** Null if it was longer than the platform accepts. */
  readonly text: string | null
  readonly record: Received
}

const PERMISSION_FOR: Readonly<Record<Operation, Permission | null>> = {
  'list-alert-rules': 'monit',
  'import-subscribers': 'on-call',
  'list-mcp-servers': null,
}

/** Answers one call, after both latencies. Rejects once `signal` aborts. */
export async function serveCall(
  state: SandboxState,
  call: Call,
  signal: AbortSignal,
): Promise<Answer | NoAnswer> {
  await waitLatency(state, state.arriveMs, signal)
  const answer = await decide(state, call, signal)
  await waitLatency(state, state.answerMs, signal)
  return answer
}

/** Checks key, limit, permission and body in this order, then does the work. Only calls within the limit get faults. */
async function decide(state: SandboxState, call: Call, signal: AbortSignal): Promise<Answer | NoAnswer> {
  const { requestId } = call.record
  const key = validKey(state.keys, call.appKey)
  if (key === undefined) return envelope(requestId, refuse('Unauthorized'))
  const refusal = count(state, call, key)
  if (refusal !== null) return envelope(requestId, refusal)
  const body = call.text === null ? undefined : tryParse(call.text)
  call.record.body = summarise(body)
  const perform = (applied: true | 'half') =>
    work(state, call, key, applied === 'half' ? firstHalf(body) : body)
  const fault = await faultFor(state, call.operation, key, body)
  if (fault === null) return envelope(requestId, perform(true))
  call.record.fault = fault.kind
  const answer = faultAnswer(fault, requestId, perform)
  if (fault.kind === 'late') await sleep(fault.ms, undefined, { signal })
  return answer
}

/** The instant at which the platform counts a call. */
function count(state: SandboxState, { operation, record }: Call, key: AppKey): Refusal | null {
  const bucket =
    OPERATIONS[operation].countedPer === 'account' ? `account ${key.accountId}` : `key ${key.key}`
  const nowMs = performance.now()
  Object.assign(record, { countedAt: nowMs, bucket, accountId: key.accountId, appKey: key.key })
  const verdict = state.counted.count(
    `${operation} ${bucket}`,
    state.limits[operation],
    nowMs,
    state.options.countRefused,
  )
  if (verdict.admitted) return null
  return refuse(
    'RequestTooFrequently',
    undefined,
    state.retryAfter ? Math.ceil(verdict.freeInMs / 1_000) : null,
  )
}

async function faultFor(
  state: SandboxState,
  operation: Operation,
  { accountId }: AppKey,
  body: unknown,
): Promise<Fault | null> {
  const injected = state.faults.next(operation)
  if (state.hook === null) return injected
  const number = state.received.filter(call => call.operation === operation && call.countedAt !== null).length
  const hooked = await state.hook({ operation, accountId, number, body })
  return hooked === undefined ? injected : Fault.parse(hooked)
}

function work(state: SandboxState, { operation, text }: Call, key: AppKey, body: unknown): Result {
  const needed = PERMISSION_FOR[operation]
  if (needed !== null && !key.permissions.includes(needed)) return refuse('AccessDenied')
  if (text === null) return refuse('EntityTooLarge')
  if (body === undefined) return refuse('BadRequest', 'The body is not valid JSON.')
  switch (operation) {
    case 'list-alert-rules':
      return listRules(state, key, body)
    case 'list-mcp-servers':
      return listServers(state, key, body)
    case 'import-subscribers':
      return importSubscribers(state, body)
  }
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    // The caller answers a body that is not JSON.
    return undefined
  }
}

async function waitLatency(state: SandboxState, latency: Latency, signal: AbortSignal): Promise<void> {
  const [low, high] = typeof latency === 'number' ? [latency, latency] : latency
  if (high > 0) await sleep(between(state.random, low, high), undefined, { signal })
}
