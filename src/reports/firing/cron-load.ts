import type { Pool } from 'pg'
import { z } from 'zod'
import { findMaybe } from '#src/db/rows.ts'

/** What the report `cron_load` says of an account and this week. */
export type CronLoad = {
  /** Evaluations of a minute, over the whole week. */
  readonly average: number
  /** The most evaluations in one minute of each quarter of an hour. */
  readonly quarters: readonly { readonly at: Date; readonly value: number }[]
  /** The most evaluations in each minute of an hour in UTC, from 0 to 59, in any hour of the week. */
  readonly minutes: readonly number[]
  /** The minutes with the most evaluations, the worst first. */
  readonly worst: readonly { readonly at: Date; readonly evaluations: number }[]
}

const Pairs = z.array(z.tuple([z.number(), z.number()]))
const Load = z.object({ average: z.number(), quarters: Pairs, minutes: z.array(z.number()), worst: Pairs })

/** Returns the load of an account; null if it has no enabled rule whose schedule can be read. */
export async function loadCronLoad(
  reader: Pool,
  account: string,
  maxWorst: number,
): Promise<CronLoad | null> {
  const row = await findMaybe(reader, Load, CRON_LOAD, [account, maxWorst])
  if (!row) return null
  return {
    ...row,
    quarters: row.quarters.map(([at, value]) => ({ at: new Date(at), value })),
    worst: row.worst.map(([at, evaluations]) => ({ at: new Date(at), evaluations })),
  }
}

const CRON_LOAD = `
  with load as materialized (
    select l.rank, l.evaluations, l.average, (extract(epoch from l.minute) * 1000)::float8 as ms
    from ferry.cron_load(null, null, $1) l
  )
  select (select min(average) from load) as average, q.quarters, m.minutes, w.worst
  from
    (select json_agg(json_build_array(at, value)) as quarters
     from (select floor(ms / 900000) * 900000 as at, max(evaluations) as value from load group by 1) q) q,
    (select json_agg(value order by minute) as minutes
     from (select mod(floor(ms / 60000)::bigint, 60) as minute, max(evaluations) as value from load group by 1) m) m,
    (select json_agg(json_build_array(ms, evaluations) order by rank) as worst from load where rank <= $2) w
  where exists (select from load)`
