import { expect, test } from 'vitest'
import { allChecks } from '#src/cli/verify/checks.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { brokenOf } from '#test/support/verify.ts'

/* What the checks of the inventory and of what all rooms share promise, what they say of a row, and what is to be done then. */

const WORDS: readonly { readonly whatToDo: string; readonly promises: Readonly<Record<string, string>> }[] = [
  {
    whatToDo:
      'If the limits in the settings were higher when it was made, nothing is wrong. Else look for a clock of the database that was set, and for another program with the same account.',
    promises: {
      limits: 'no rolling window has more calls of a limit than the settings allow',
    },
  },
  {
    whatToDo:
      'The row was changed by something else than Ferry. Limits may have counted it wrongly at that time.',
    promises: {
      calls: 'a call ends, and stops counting, after it began',
    },
  },
  {
    whatToDo:
      'Compare the row with a backup, and restore what is missing. As the owner of the table, correct the end or the start of the interval so that it is the applied_at of a run; readers of that time get a wrong answer until then.',
    promises: {
      'alert-rules intervals':
        'versions of one alert rule do not overlap, at most one is current, and each differs from the one before',
      'alert-rules runs':
        "a run of the alert rule's account was applied when each version began, and when it ended",
      'mcp-servers intervals':
        'versions of one MCP server do not overlap, at most one is current, and each differs from the one before',
      'mcp-servers runs':
        "a run of the MCP server's account was applied when each version began, and when it ended",
      episodes: 'episodes of one alert rule do not overlap, and at most one is open',
      'episodes runs': 'a run of the account was applied when each episode began, and when it ended',
    },
  },
  {
    whatToDo: 'The next complete sync cannot end it. As the owner of the table, set ended and ended_run.',
    promises: {
      'episodes of rules': 'a rule that is firing is a current one: its removal ends the episode',
    },
  },
  {
    whatToDo: 'Compare the run with a backup; `ferry runs show ID` shows what Ferry knows of it.',
    promises: {
      'alert-rules counts': 'a run began and ended as many versions and episodes as it counted',
      'mcp-servers counts': 'a run began and ended as many versions and episodes as it counted',
      runs: 'the rows of a run add up, its times fit its status, and runs of one inventory were applied one after another',
    },
  },
  {
    whatToDo: 'The run is missing from ferry.sync_runs: restore it from a backup.',
    promises: {
      references: 'what names a run names one that exists',
    },
  },
  {
    whatToDo: 'A row of ferry.audit is missing: compare it with a backup.',
    promises: {
      'runs by hand': 'who asked for a run is in the audit',
      'decisions on holds': 'who approved or rejected a hold is in the audit',
      'schedules by hand': 'who paused a schedule, or had it run, is in the audit',
    },
  },
  {
    whatToDo:
      'Run `ferry sync` for that inventory: a complete listing holds again what is still absent. Compare with a backup.',
    promises: {
      holds:
        'a hold was opened and confirmed by held runs of its inventory, and has an outcome once it has ended',
    },
  },
  {
    whatToDo: 'Run `ferry sync` for that inventory: a complete listing holds again what is still absent.',
    promises: {
      'held runs': 'a run that held removals has its hold',
    },
  },
  {
    whatToDo:
      'The next complete sync of that inventory writes it again. As the owner, set is_open = false in a row too many.',
    promises: {
      'events of holds': 'people are told of each open hold, and of no other',
    },
  },
  {
    whatToDo: 'Do not rely on this snapshot. Restore its row or its run from a backup.',
    promises: {
      snapshots:
        'a snapshot has both of its runs, applied before it, the status of the worse one, and a history to show',
    },
  },
  {
    whatToDo:
      'As the owner of the table, keep the newest open event and set is_open = false in the others; a delivery that was never sent has no delivered_at.',
    promises: {
      outbox:
        'of each subject at most one event is open, only what was raised is, and what was delivered was sent',
    },
  },
]

test('each check says what it promises, and what to do about a row that breaks it', () => {
  const names = new Set(WORDS.flatMap(({ promises }) => Object.keys(promises)))
  const checks = allChecks([]).filter(({ name }) => names.has(name))
  const expected = WORDS.flatMap(({ whatToDo, promises }) =>
    Object.entries(promises).map(([name, holds]) => ({ name, holds, whatToDo })),
  )
  const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
  expect(checks.map(({ name, holds, whatToDo }) => ({ name, holds, whatToDo })).sort(byName)).toEqual(
    expected.sort(byName),
  )
})

const LIMITS = ['a', 'b'].map(account => ({
  account,
  operation: 'list-alert-rules',
  windows: [{ maxCalls: 2, windowMs: 60_000 }],
}))

/** What these checks find, each a whole sentence. */
const found = ({ pool }: TestStore, ...names: readonly string[]) => brokenOf(pool, names, LIMITS)

async function addCall(
  { pool }: TestStore,
  account: string,
  started: string,
  more: Readonly<Record<string, unknown>> = {},
) {
  const call = {
    limit_key: `account:${account}`,
    account,
    operation: 'list-alert-rules',
    started,
    counted_by: '2026-01-01T01:00:00Z',
    finished: started,
    ...more,
  }
  await pool.query(
    'insert into ferry.platform_limits (limit_key, operation) values ($1, $2) on conflict do nothing',
    [call.limit_key, call.operation],
  )
  await pool.query(
    `insert into ferry.platform_calls (${Object.keys(call).join()}) values (${Object.keys(call).map((_, n) => `$${n + 1}`)})`,
    Object.values(call),
  )
}

test('a call too many is named with its window, of each limit and operation by itself', async () => {
  await using store = await openTestStore()
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
  for (const second of [0, 10, 61, 70, 71]) await addCall(store, 'a', at(second))
  for (const second of [1, 2]) await addCall(store, 'b', at(second))
  await addCall(store, 'a', at(3), { operation: 'list-mcp-servers' })
  expect(await found(store, 'limits', 'calls')).toEqual([
    'limits: ferry.platform_calls: call 5 (list-alert-rules of account a), started 2026-01-01T00:01:11.000000Z, was call 3 of 2 in 60000 ms',
  ])
})

test('a call with times that cannot be is named', async () => {
  await using store = await openTestStore()
  const [start, before] = ['2026-01-01T00:00:10Z', '2026-01-01T00:00:09Z']
  await addCall(store, 'a', start, { http_status: 200 })
  await addCall(store, 'a', start, { finished: before })
  await addCall(store, 'a', start, { counted_by: start })
  await addCall(store, 'a', start, { finished: null, http_status: 200 })
  await addCall(store, 'a', start, { finished: null, http_status: 200, error_code: 'NoAnswer' })
  await addCall(store, 'a', start, { finished: null })
  const wrong = (id: number) =>
    `calls: ferry.platform_calls: call ${id} (list-alert-rules of account a) has times that cannot be`
  expect(await found(store, 'calls')).toEqual([wrong(2), wrong(3), wrong(4)])
})

test('events that contradict each other and a delivery that was never sent are named', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await pool.query('drop index ferry.events_open')
  const event = (kind: string, subject: string, state: string, isOpen: boolean) =>
    pool.query(
      `insert into ferry.events (kind, account, subject, state, data, is_open) values ($1, 'a', $2, $3, '{}', $4)`,
      [kind, subject, state, isOpen],
    )
  await event('night.missed', '', 'raised', true)
  await event('night.missed', '', 'raised', true)
  await event('run.failing', 'alert-rules', 'resolved', true)
  await event('run.failing', 'mcp-servers', 'raised', true)
  await event('run.failing', 'mcp-servers', 'resolved', false)
  await pool.query(
    `insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, delivered_at)
     select id, n::text, kind, account, subject, data, at, n, case when n < 2 then now() end
     from ferry.events cross join generate_series(0, 2) n where id = 4`,
  )
  const wrong = (table: string, of: string) => `outbox: ferry.${table}: rows of ${of} contradict each other`
  expect(await found(store, 'outbox')).toEqual([
    wrong('deliveries', 'run.failing (account a, mcp-servers)'),
    wrong('events', 'night.missed (account a, no subject)'),
    wrong('events', 'run.failing (account a, alert-rules)'),
  ])
})
