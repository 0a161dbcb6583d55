import { z } from 'zod'
import { type Check, check } from '#src/db/verify.ts'
import type { RemovalPolicy } from '#src/inventory/publish/decide.ts'

/*
 * What the holds of removals promise: the runs that held them, who decided, and the event that tells of an open one.
 */

const HoldRow = z.object({
  id: z.string(),
  account: z.string(),
  resource: z.string(),
  outcome: z.string().nullable(),
})
type HoldRow = z.infer<typeof HoldRow>

const nameOfHold = ({ id, account, resource }: HoldRow) =>
  `ferry.removal_holds: hold ${id} (${resource} of account ${account})`

const EventOfHold = z.object({ account: z.string(), resource: z.string(), isOpen: z.boolean() })

/** Checks of the holds of removals. */
export const HOLD_CHECKS: readonly Check[] = [
  check(HoldRow, {
    name: 'holds',
    holds:
      'a hold was opened and confirmed by held runs of its inventory, and has an outcome once it has ended',
    broken: `
      select h.id::text, h.account, h.resource, h.outcome from ferry.removal_holds h
      left join ferry.sync_runs o on o.id = h.opened_by_run and o.account = h.account and o.resource = h.resource
      left join ferry.sync_runs l on l.id = h.last_run and l.account = h.account and l.resource = h.resource
      where o.status is distinct from 'held' or l.status is distinct from 'held' or h.last_run < h.opened_by_run
        or (h.ended_at is null) <> (h.outcome is null)
        or exists (select from unnest(h.since_runs) s where s not between h.opened_by_run and h.last_run)`,
    found: row => `${nameOfHold(row)} does not fit the runs that it names, or has ended without an outcome`,
    whatToDo:
      'Run `ferry sync` for that inventory: a complete listing holds again what is still absent. Compare with a backup.',
  }),
  check(HoldRow, {
    name: 'held runs',
    holds: 'a run that held removals has its hold',
    broken: `
      select r.id::text, r.account, r.resource, null as outcome from ferry.sync_runs r
      where r.status = 'held' and not exists (
        select from ferry.removal_holds h
        where h.account = r.account and h.resource = r.resource and r.id between h.opened_by_run and h.last_run)`,
    found: ({ id, account, resource }) =>
      `ferry.sync_runs: run ${id} (${resource} of account ${account}) is held, but no hold names it`,
    whatToDo: 'Run `ferry sync` for that inventory: a complete listing holds again what is still absent.',
  }),
  check(HoldRow, {
    name: 'decisions on holds',
    holds: 'who approved or rejected a hold is in the audit',
    broken: `
      select h.id::text, h.account, h.resource, h.outcome from ferry.removal_holds h
      where h.outcome in ('approved', 'rejected') and not exists (
        select from ferry.audit a
        cross join lateral (select case when a.subject_kind = 'run' then a.subject_id::bigint end as id) r
        where a.account = h.account and case
          when a.action = 'reject' then h.outcome = 'rejected' and r.id between h.opened_by_run and h.last_run
          when a.action = 'approve' then h.outcome = 'approved' and r.id between h.opened_by_run and h.last_run
          -- With --accept-removals, the run that removed the rows.
          else a.action = 'sync' and h.outcome = 'approved' and exists (
            select from ferry.sync_runs s
            where s.id = r.id and s.guard = $1 and s.resource = h.resource and s.id > h.last_run) end)`,
    values: ['accepted' satisfies RemovalPolicy['kind']],
    found: row => `${nameOfHold(row)} was ${row.outcome}, but ferry.audit does not say by whom`,
    whatToDo: 'A row of ferry.audit is missing: compare it with a backup.',
  }),
  check(EventOfHold, {
    name: 'events of holds',
    holds: 'people are told of each open hold, and of no other',
    broken: `
      select coalesce(h.account, e.account) as account, coalesce(h.resource, e.subject) as resource, h.account is not null as is_open
      from (select account, resource from ferry.removal_holds where ended_at is null) h
      full join (select account, subject from ferry.events where is_open and kind = 'removals.held') e
        on e.account = h.account and e.subject = h.resource
      where h.account is null or e.account is null`,
    found: ({ account, resource, isOpen }) =>
      isOpen
        ? `ferry.events: nobody is told of the open hold (${resource} of account ${account})`
        : `ferry.events: removals.held is open for ${resource} of account ${account}, but no hold is`,
    whatToDo:
      'The next complete sync of that inventory writes it again. As the owner, set is_open = false in a row too many.',
  }),
]
