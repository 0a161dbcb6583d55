import { z } from 'zod'
import { findAll, Int8, type Queryable } from '#src/db/rows.ts'

/** A time in which an inventory was older than its freshness target, see the function `ferry.blind_spots`. */
const BlindSpot = z.object({
  account: z.string(),
  inventory: z.string(),
  /** When the data became older than its freshness target. */
  lateFrom: z.date(),
  /** Null: it still is. */
  freshAgainAt: z.date().nullable(),
  errorCode: z.string().nullable(),
})
export type BlindSpot = Readonly<z.infer<typeof BlindSpot>>

/** The blind spots of the last day, the latest first; at most `limit`. */
export function listBlindSpots(client: Queryable, limit: number): Promise<BlindSpot[]> {
  return findAll(
    client,
    BlindSpot,
    `select account, inventory, late_from, fresh_again_at, error_code
     from ferry.blind_spots(now() - interval '1 day') order by late_from desc limit $1`,
    [limit],
  )
}

/** Something that a worker is doing now, see the view `ferry.work_under_way`. */
const Work = z.object({
  holder: z.string(),
  kind: z.enum(['run', 'import', 'schedule']),
  account: z.string(),
  /** The inventory, the page, or the name of the schedule. */
  name: z.string(),
  /** The number of the run or import; null for a schedule. */
  number: Int8.nullable(),
  since: z.date(),
})
export type Work = Readonly<z.infer<typeof Work>>

/** What workers are doing now, the oldest work first; at most `limit`. */
export function listWorkUnderWay(client: Queryable, limit: number): Promise<Work[]> {
  return findAll(
    client,
    Work,
    'select holder, kind, account, name, number, since from ferry.work_under_way order by since limit $1',
    [limit],
  )
}

/** A minute in which calls of a limit began, see the function `ferry.limit_use`. */
const LimitMinute = z.object({
  minute: z.date(),
  /** Several, if they share the limit. */
  account: z.string(),
  operation: z.string(),
  calls: z.number(),
  /** Of those allowed in a minute, 0 to 1; null as long as no worker has written how many are allowed. */
  share: z.number().nullable(),
  /** How many were answered 429. */
  refused: z.number(),
})
export type LimitMinute = Readonly<z.infer<typeof LimitMinute>>

/** The minutes of the last hour, the latest first. A minute without a call has no row. */
export function listLimitUse(client: Queryable): Promise<LimitMinute[]> {
  return findAll(
    client,
    LimitMinute,
    'select minute, account, operation, calls, share, refused from ferry.limit_use()',
  )
}
