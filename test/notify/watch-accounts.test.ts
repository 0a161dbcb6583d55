import { expect, test } from 'vitest'
import { watch } from '#src/notify/watch.ts'
import { questionsOf } from '#src/worker/notifications.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

test('what another account has, and another schedule that is paused, excuses no night that an account missed', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await addRun(pool, { account: 'a' })
  await ageRuns(pool, '2 days')
  await addRun(pool, { account: 'a' })
  await pool.query(
    `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
     values ('b', now(), now(), 'succeeded', 1, 1)`,
  )
  await pool.query(
    `insert into ferry.schedule_pauses (account, schedule)
     values ('b', 'snapshot-inventory'), ('a', 'poll-alert-rules')`,
  )
  await watch({ pool, accounts: ['a'], ask: questionsOf({ everyMs: 60_000 }) })
  const { rows } = await pool.query('select kind, account from ferry.events')
  expect(rows).toEqual([{ kind: 'night.missed', account: 'a' }])
})

test('a worker tells of no account that it does not have, and its heartbeat waits for none', async () => {
  await using store = await openTestStore()
  const { pool } = store
  for (const account of ['a', 'b']) {
    await pool.query(
      `insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders, target_since)
       values ($1, 'alert-rules', '1 hour', 'poll-alert-rules', 'UTC', '["0"]', now() - interval '1 day')`,
      [account],
    )
  }
  await addRun(pool, { account: 'a' })
  const ask = questionsOf({ everyMs: 60_000 })
  await watch({ pool, accounts: ['a'], ask })
  expect((await pool.query('select kind, account from ferry.events')).rows).toEqual([])
  expect(await ask.areAllFresh(pool, ['a'])).toBe(true)
  expect(await ask.areAllFresh(pool, ['a', 'b'])).toBe(false)
})
