import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, findOne, findValue, Int8 } from './rows.ts'

/** A call of the call log. Ids are text. */
const ListedCall = z.object({
  call: z.string(),
  account: z.string(),
  operation: z.string(),
  started: z.date(),
  /** The same to the microsecond, as text. */
  startedExactly: z.string(),
  /** Null as long as the platform has not answered. */
  finished: z.date().nullable(),
  httpStatus: z.number().nullable(),
  errorCode: z.string().nullable(),
  requestId: z.string().nullable(),
  run: z.string().nullable(),
  batch: z.string().nullable(),
})
export type ListedCall = Readonly<z.infer<typeof ListedCall>>

/** Which calls are wanted; what is left out does not narrow them. */
export type CallFilter = {
  readonly account?: string | undefined
  readonly operation?: string | undefined
  /** Only those that the platform did not accept or answer. */
  readonly refused?: boolean | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  readonly requestId?: string | undefined
  readonly run?: bigint | undefined
}

/**
 * Where a page of calls ends: the next one begins after it. Without a time, it is a number up to which no more calls were
 * found.
 */
export type CallPlace = { readonly call: string; readonly startedExactly: string | null }

export type CallPage = {
  readonly calls: readonly ListedCall[]
  /** Null on the last page. */
  readonly next: CallPlace | null
}

/**
 * A page scans at most this many calls, which takes 0.1 s. An account or an operation that has none among them may have older
 * ones, and has no index; the next page looks further back.
 */
const LOOK_AT_MOST = 200_000

/**
 * Returns the newest calls first, `limit` of them at most. Refused ones are ordered by their time, by which they have an
 * index; the others by their number, which is the order of their times.
 */
export async function listCallLog(
  pool: Pool,
  limit: number,
  filter: CallFilter,
  after: CallPlace | null = null,
): Promise<CallPage> {
  const { account, operation, refused, since, until, requestId, run } = filter
  const params: unknown[] = []
  const param = (value: unknown, type: string) => `$${params.push(value)}::${type}`
  const wanted: string[] = []
  if (account !== undefined) wanted.push(`account = ${param(account, 'text')}`)
  if (operation !== undefined) wanted.push(`operation = ${param(operation, 'text')}`)
  if (requestId !== undefined) wanted.push(`request_id = ${param(requestId, 'text')}`)
  if (run !== undefined) wanted.push(`run_id = ${param(run, 'bigint')}`)
  if (since !== undefined) wanted.push(`started >= ${param(since, 'timestamptz')}`)
  if (until !== undefined) wanted.push(`started < ${param(until, 'timestamptz')}`)
  let range: IdRange | null = null
  if (refused) {
    wanted.push('error_code is not null')
    if (after)
      wanted.push(
        `(started, id) < (${param(after.startedExactly, 'timestamptz')}, ${param(after.call, 'bigint')})`,
      )
  } else if (requestId === undefined && run === undefined) {
    range = await idRange(pool, filter, after)
    wanted.push(`id >= ${param(range.from, 'bigint')}`, `id < ${param(range.to, 'bigint')}`)
  } else if (after) wanted.push(`id < ${param(after.call, 'bigint')}`)
  const rows = await findAll(
    pool,
    ListedCall,
    `select id as call, account, operation, started, to_json(started) #>> '{}' as started_exactly, finished,
       http_status, error_code, request_id, run_id as run, batch_id as batch
     from ferry.platform_calls
     where ${wanted.length === 0 ? 'true' : wanted.join(' and ')}
     order by ${refused ? 'started desc, id desc' : 'id desc'}
     limit ${param(limit + 1, 'int')}`,
    params,
  )
  const calls = rows.slice(0, limit)
  const last = rows.length > limit ? calls.at(-1) : undefined
  if (last) return { calls, next: last }
  return { calls, next: range?.isCut ? { call: `${range.from}`, startedExactly: null } : null }
}

type IdRange = { readonly from: bigint; readonly to: bigint; readonly isCut: boolean }

/** The numbers in which a page looks. `isCut`: there are lower ones that it does not look at. */
async function idRange(pool: Pool, { since, until }: CallFilter, after: CallPlace | null): Promise<IdRange> {
  const all = await findOne(
    pool,
    Numbers,
    'select coalesce(min(id), 0) as low, coalesce(max(id) + 1, 0) as high from ferry.platform_calls',
  )
  const begins = since === undefined ? 0n : (await firstCallSince(pool, since)) - MAX_DISORDER
  const ends = until === undefined ? all.high : (await firstCallSince(pool, until)) + MAX_DISORDER
  const to = after === null ? ends : lower(ends, BigInt(after.call))
  const lowest = higher(begins, all.low)
  const from = higher(lowest, to - BigInt(LOOK_AT_MOST))
  return { from, to, isCut: from > lowest }
}

const Numbers = z.object({ low: Int8, high: Int8 })

const lower = (one: bigint, other: bigint) => (one < other ? one : other)
const higher = (one: bigint, other: bigint) => (one > other ? one : other)

/** The order of the numbers differs from that of the times by at most this many: calls are recorded concurrently. */
const MAX_DISORDER = 10_000n

/**
 * Returns the number of the first call that started at `at` or later; one more than the last if no call did. It halves
 * the range of numbers about twenty times, so that no index on the time is needed.
 */
function firstCallSince(pool: Pool, at: Date): Promise<bigint> {
  return findValue(
    pool,
    Int8,
    `with recursive search as (
       select coalesce(min(id), 0) as low, coalesce(max(id) + 1, 0) as high from ferry.platform_calls
       union all
       select case when probe.started < $1::timestamptz then probe.id + 1 else s.low end,
         case when probe.started < $1::timestamptz then s.high else s.middle end
       from (select low, high, (low + high) / 2 as middle from search where low < high) s
       cross join lateral (
         select c.id, c.started from ferry.platform_calls c where c.id >= s.middle order by c.id limit 1
       ) probe
     )
     select min(high) from search`,
    [at],
  )
}
