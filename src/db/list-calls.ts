import type { Pool } from 'pg'
import { onlyRow } from './rows.ts'

/** A call of the call log. Ids are text. */
export type ListedCall = {
  readonly call: string
  readonly account: string
  readonly operation: string
  readonly started: Date
  /** The same to the microsecond, as text. */
  readonly startedExactly: string
  /** Null as long as the platform has not answered. */
  readonly finished: Date | null
  readonly httpStatus: number | null
  readonly errorCode: string | null
  readonly requestId: string | null
  readonly run: string | null
  readonly batch: string | null
}

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

/** The last call of a page: the next page begins after it. */
export type CallPlace = Pick<ListedCall, 'call' | 'startedExactly'>

/**
 * Returns the newest calls first, at most `limit`. Refused ones are ordered by their time, by which they have an index; the
 * others by their number, which is the order of their times.
 */
export async function listCallLog(
  pool: Pool,
  limit: number,
  filter: CallFilter,
  after: CallPlace | null,
): Promise<ListedCall[]> {
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
  if (refused) {
    wanted.push('error_code is not null')
    if (after) {
      const place = `${param(after.startedExactly, 'timestamptz')}, ${param(after.call, 'bigint')}`
      wanted.push(`(started, id) < (${place})`)
    }
  } else {
    if (since !== undefined)
      wanted.push(`id >= ${param((await firstCallSince(pool, since)) - MAX_DISORDER, 'bigint')}`)
    if (until !== undefined)
      wanted.push(`id < ${param((await firstCallSince(pool, until)) + MAX_DISORDER, 'bigint')}`)
    if (after) wanted.push(`id < ${param(after.call, 'bigint')}`)
  }
  const { rows } = await pool.query<ListedCall>(
    `select id as call, account, operation, started, to_json(started) #>> '{}' as "startedExactly", finished,
       http_status as "httpStatus", error_code as "errorCode", request_id as "requestId", run_id as run, batch_id as batch
     from ferry.platform_calls
     where ${wanted.length === 0 ? 'true' : wanted.join(' and ')}
     order by ${refused ? 'started desc, id desc' : 'id desc'}
     limit ${param(limit, 'int')}`,
    params,
  )
  return rows
}

/** By so many numbers at most the order of the calls differs from that of their times: they are recorded side by side. */
const MAX_DISORDER = 10_000n

/**
 * Returns the number of the first call that started at `at` or later; one more than the last if there is none. It halves
 * the range of numbers about twenty times, so that no index on the time is needed.
 */
async function firstCallSince(pool: Pool, at: Date): Promise<bigint> {
  const { rows } = await pool.query<{ first: string }>(
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
     select min(high) as first from search`,
    [at],
  )
  return BigInt(onlyRow(rows, 'the search for a call by its time').first)
}
