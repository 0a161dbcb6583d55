import type { Operation } from '#src/model/call.ts'
import type { Fault } from './faults.ts'

/** A request and its outcome. The sandbox fills it in step by step; it never holds a recipient. */
export type Received = {
  readonly requestId: string
  /** Null if the path is not one of the three operations. */
  readonly operation: Operation | null
  /**
   * `performance.now()` of the sandbox's process when the limiter saw the request, whether it admitted or refused it.
   * Null if the request was refused earlier (unknown route, wrong method, content type or key).
   */
  countedAt: number | null
  /** The account or the key for which the limit counts it. */
  bucket: string | null
  accountId: bigint | null
  appKey: string | null
  body: BodySummary | null
  /** The fault injected into it. */
  fault: Fault['kind'] | null
  /** Null until the answer; it stays null if there was none. */
  status: number | null
  code: string | null
}

/** The numbers in a request's body, where they are numbers; `subscribers` is their count. */
export type BodySummary = {
  readonly folderId?: bigint
  readonly page?: bigint
  readonly limit?: bigint
  readonly includeAccount?: boolean
  readonly pageId?: bigint
  readonly subscribers?: number
}

/**
 * The largest number of calls of one account or key that the limiter saw in any rolling window.
 *
 * It includes calls refused with 429: it measures the client, whatever the sandbox's own limits are.
 */
export function maxInAnyWindow(
  received: readonly Received[],
  operation: Operation,
  windowMs: number,
): number {
  const buckets = new Map<string, number[]>()
  for (const { operation: called, bucket, countedAt } of received) {
    if (called !== operation || bucket === null || countedAt === null) continue
    const times = buckets.get(bucket)
    if (times === undefined) buckets.set(bucket, [countedAt])
    else times.push(countedAt)
  }
  return Math.max(0, ...[...buckets.values()].map(times => most(times, windowMs)))
}

function most(times: number[], windowMs: number): number {
  times.sort((a, b) => a - b)
  let first = 0
  let found = 0
  for (const [last, time] of times.entries()) {
    while (time - (times[first] as number) >= windowMs) first++
    found = Math.max(found, last - first + 1)
  }
  return found
}

export function summarise(body: unknown): BodySummary | null {
  if (typeof body !== 'object' || body === null) return null
  const fields = body as Record<string, unknown>
  return {
    ...numberAs('folderId', fields.folder_id),
    ...numberAs('page', fields.p),
    ...numberAs('limit', fields.limit),
    ...numberAs('pageId', fields.page_id),
    ...(typeof fields.include_account === 'boolean' ? { includeAccount: fields.include_account } : {}),
    ...(Array.isArray(fields.subscribers) ? { subscribers: fields.subscribers.length } : {}),
  }
}

function numberAs(name: string, value: unknown): Record<string, bigint> {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? { [name]: BigInt(value as number) } : {}
}
