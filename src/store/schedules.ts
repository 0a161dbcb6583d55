import type { Pool } from 'pg'

/** A job of one account. The account is `*` where there is one for all. */
export type ScheduleKey = { readonly schedule: string; readonly account: string }

/** How a schedule stands, as the reconciler needs to know it. */
export type ScheduleState = {
  readonly paused: boolean
  /** Whether the slot asked about has a row: somebody took it, whatever came of it. */
  readonly taken: boolean
  /** Whether it never had a slot. */
  readonly isNew: boolean
  /** The latest unfinished slot; `manual` if a person asked for it, which a pause does not keep from running. */
  readonly open: { readonly slot: Date; readonly freeInMs: number; readonly manual: boolean } | null
}

/** Answers in the order asked, in one query. */
export async function loadScheduleStates(
  pool: Pool,
  asked: readonly (ScheduleKey & { readonly slot: Date })[],
): Promise<ScheduleState[]> {
  const { rows } = await pool.query<{
    paused: boolean
    taken: boolean
    is_new: boolean
    manual: boolean
    slot: Date | null
    free_in_ms: number | null
  }>(
    `select
       exists (select from ferry.schedule_pauses p where p.schedule = a.schedule and p.account = a.account) as paused,
       exists (select from ferry.schedule_slots t
               where t.account = a.account and t.schedule = a.schedule and t.slot = a.slot) as taken,
       not exists (select from ferry.schedule_slots t
                   where t.account = a.account and t.schedule = a.schedule) as is_new,
       o.slot, o.manual, extract(epoch from o.retry_at - clock_timestamp())::float8 * 1000 as free_in_ms
     from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality as a (schedule, account, slot, position)
     left join lateral (
       select * from ferry.schedule_slots u
       where u.account = a.account and u.schedule = a.schedule and u.done_at is null
       order by u.slot desc limit 1) o on true
     order by a.position`,
    [asked.map(a => a.schedule), asked.map(a => a.account), asked.map(a => a.slot)],
  )
  return rows.map(({ paused, taken, is_new, slot, manual, free_in_ms }) => ({
    paused,
    taken,
    isNew: is_new,
    open: slot && { slot, freeInMs: free_in_ms ?? 0, manual },
  }))
}

export type LastSlot = ScheduleKey & { readonly slot: Date; readonly outcome: string | null }

/** The latest slot of each schedule, done or not. */
export async function loadLastSlots(pool: Pool): Promise<LastSlot[]> {
  const { rows } = await pool.query<LastSlot>(
    `select distinct on (account, schedule) account, schedule, slot, outcome from ferry.schedule_slots
     order by account, schedule, slot desc`,
  )
  return rows
}

/** Pausing twice is pausing once. Work under way is not interrupted. */
export async function pauseSchedules(pool: Pool, keys: readonly ScheduleKey[]): Promise<void> {
  await pool.query(
    `insert into ferry.schedule_pauses (schedule, account) select * from unnest($1::text[], $2::text[])
     on conflict do nothing`,
    [keys.map(key => key.schedule), keys.map(key => key.account)],
  )
}

export async function resumeSchedules(pool: Pool, keys: readonly ScheduleKey[]): Promise<void> {
  await pool.query(
    `delete from ferry.schedule_pauses where (schedule, account) in (select * from unnest($1::text[], $2::text[]))`,
    [keys.map(key => key.schedule), keys.map(key => key.account)],
  )
}

export async function loadPauses(pool: Pool): Promise<ScheduleKey[]> {
  const { rows } = await pool.query<ScheduleKey>('select schedule, account from ferry.schedule_pauses')
  return rows
}
