import { z } from 'zod'
import type { Limit } from '#src/model/limit.ts'
import { keyInstant } from './rows.ts'
import { type Check, check } from './verify.ts'

/*
 * What the call log promises: never more calls in a window than the platform allows.
 */

/** The windows of an account's operation, as the settings have them now. */
export type CheckedLimit = Pick<Limit, 'windows'> & { readonly account: string; readonly operation: string }

const Call = z.object({ id: z.string(), account: z.string(), operation: z.string() })
type Call = z.infer<typeof Call>

const call = ({ id, account, operation }: Call) =>
  `ferry.platform_calls: call ${id} (${operation} of account ${account})`

/** Checks of the call log. Accounts that are not among `limits` have windows that nobody knows here. */
export function callChecks(limits: readonly CheckedLimit[]): Check[] {
  const windows = limits.flatMap(({ account, operation, windows }) =>
    windows.map(window => ({ account, operation, ...window })),
  )
  return [
    check(
      Call.extend({ started: z.string(), counted: z.number(), maxCalls: z.number(), windowMs: z.number() }),
      {
        name: 'limits',
        holds: 'no rolling window has more calls of a limit than the settings allow',
        broken: OVER_THE_LIMIT,
        values: [
          windows.map(({ account }) => account),
          windows.map(({ operation }) => operation),
          windows.map(({ maxCalls }) => maxCalls),
          windows.map(({ windowMs }) => windowMs),
        ],
        found: row =>
          `${call(row)}, started ${row.started}, was call ${row.counted} of ${row.maxCalls} in ${row.windowMs} ms`,
        whatToDo:
          'If the limits in the settings were higher when it was made, nothing is wrong. Else look for a clock of the database ' +
          'that was set, and for another program with the same account.',
      },
    ),
    check(Call, {
      name: 'calls',
      holds: 'a call ends, and stops counting, after it began',
      broken: `
        select id::text, account, operation from ferry.platform_calls
        where finished < started or counted_by <= started or (http_status is not null and finished is null and error_code is null)`,
      found: row => `${call(row)} has times that cannot be`,
      whatToDo:
        'The row was changed by something else than Ferry. Limits may have counted it wrongly at that time.',
    }),
  ]
}

/**
 * The calls that were one too many when they began. In each window a call counts from its start until a window after its end,
 * which is its answer or the bound of its arrival (full_windows.sql): a running sum over these steps is the number that
 * counted. At one instant, those that stop counting come first.
 */
const OVER_THE_LIMIT = `
  with windows as (
    select * from unnest($1::text[], $2::text[], $3::int[], $4::int[]) as w (account, operation, max_calls, window_ms)
  ), calls as (
    select c.id, l.id as limit_id, w.max_calls, w.window_ms, c.started,
      least(c.finished, c.counted_by) + w.window_ms * interval '1 ms' as counts_until
    from windows w
    join ferry.platform_calls c on c.account = w.account and c.operation = w.operation
    join ferry.platform_limits l on l.limit_key = c.limit_key and l.operation = c.operation
  ), counted as (
    select s.id, s.max_calls, s.window_ms, s.started, s.step, sum(s.step) over (
      partition by s.limit_id, s.max_calls, s.window_ms order by s.at, s.step rows unbounded preceding)::int as counted
    from (
      select id, limit_id, max_calls, window_ms, started, started as at, 1 as step from calls
      union all
      select id, limit_id, max_calls, window_ms, started, counts_until, -1 from calls
    ) s
  )
  select o.id::text, c.account, c.operation, ${keyInstant('o.started')} as started, o.counted, o.max_calls, o.window_ms
  from counted o join ferry.platform_calls c on c.id = o.id
  where o.step = 1 and o.counted > o.max_calls`

const EventRow = z.object({ kind: z.string(), account: z.string(), subject: z.string(), table: z.string() })

/** Checks of the outbox, whatever the events are about. */
export const OUTBOX_CHECKS: readonly Check[] = [
  check(EventRow, {
    name: 'outbox',
    holds:
      'of each subject at most one event is open, only what was raised is, and what was delivered was sent',
    broken: `
      select kind, account, subject, 'ferry.events' as table from ferry.events where is_open
      group by kind, account, subject having count(*) > 1 or bool_or(state = 'resolved')
      union all
      select kind, account, subject, 'ferry.deliveries' from ferry.deliveries where delivered_at is not null and attempts = 0`,
    found: ({ kind, account, subject, table }) =>
      `${table}: rows of ${kind} (account ${account}, ${subject || 'no subject'}) contradict each other`,
    whatToDo:
      'As the owner of the table, keep the newest open event and set is_open = false in the others; a delivery that was never ' +
      'sent has no delivered_at.',
  }),
]
