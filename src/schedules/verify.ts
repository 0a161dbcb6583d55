import { z } from 'zod'
import { type Check, check } from '#src/db/verify.ts'

/*
 * What schedules promise: who paused one is in the audit, and a slot is due or done.
 */

const ScheduleRow = z.object({ schedule: z.string(), account: z.string() })

export const SCHEDULE_CHECKS: readonly Check[] = [
  check(ScheduleRow, {
    name: 'schedules by hand',
    holds: 'who paused a schedule, or had it run, is in the audit',
    broken: `
      select d.schedule, d.account from (
        select schedule, account, 'pause' as action from ferry.schedule_pauses
        union all select distinct schedule, account, 'run' from ferry.schedule_slots where manual
      ) d
      where not exists (select from ferry.audit a where a.subject_kind = 'schedule' and a.subject_id = d.schedule
        and a.account = d.account and a.action = d.action)`,
    found: ({ schedule, account }) =>
      `ferry.audit: nobody is recorded who paused or ran ${schedule} of account ${account}`,
    whatToDo: 'A row of ferry.audit is missing: compare it with a backup.',
  }),
  check(ScheduleRow.extend({ slot: z.date() }), {
    name: 'slots',
    holds: 'a slot is due, or done with an outcome',
    broken: `
      select schedule, account, slot from ferry.schedule_slots
      where (done_at is null) <> (outcome is null) or (done_at is not null and retry_at is not null)`,
    found: ({ schedule, account, slot }) =>
      `ferry.schedule_slots: the slot ${slot.toISOString()} of ${schedule}, account ${account}, is neither due nor done`,
    whatToDo: 'As the owner of the table, remove the row. The next slot runs as it should.',
  }),
]
