import type { Operation } from '#src/platform/operations.ts'
import type { Fault } from './faults.ts'

/** A request as it arrived and what became of it. Filled in on the way; no recipient is ever kept in it. */
export type Received = {
  readonly requestId: string
  /** Null if the path is none of the three. */
  readonly operation: Operation | null
  /**
   * `performance.now()` of the sandbox's process when the limiter saw it, admitted or refused with 429.
   * Null if it never came that far (unknown route, wrong method, content type or key).
   */
  countedAt: number | null
  /** What the limit counts it by: the account or the key. */
  bucket: string | null
  accountId: bigint | null
  appKey: string | null
  body: BodySummary | null
  /** What went wrong on purpose. */
  fault: Fault['kind'] | null
  /** Null as long as there is no answer, and for ever if it was dropped or hung. */
  status: number | null
  code: string | null
}

/** The numbers of a request's body, as far as they are numbers; `subscribers` is how many there are. */
export type BodySummary = {
  readonly folderId?: bigint
  readonly page?: bigint
  readonly limit?: bigint
  readonly includeAccount?: boolean
  readonly pageId?: bigint
  readonly subscribers?: number
}

/**
 * The largest number of calls that reached the limiter in any rolling window, of one account or key.
 *
 * Calls refused with 429 are in it too: it measures what the client did, whatever the sandbox's own limits.
 */
export function mostInAnyWindow(
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
