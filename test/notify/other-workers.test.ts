import { expect, test } from 'vitest'
import { addRun } from '#test/support/runs.ts'
import { openNotifyHarness } from './notify-harness.ts'

test('the worker that tells of what is wrong tells of the accounts of all workers, until their targets are deleted', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  for (const account of ['other', 'removed']) {
    await pool.query(
      `insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders, target_since)
       values ($1, 'alert-rules', '1 hour', 'poll-alert-rules', 'UTC', '["0"]', now() - interval '30 days')`,
      [account],
    )
  }
  await addRun(pool, { account: 'default' })
  const look = async () => {
    await using notifier = harness.openNotifier()
    await notifier.look()
    return (await pool.query('select kind, account, state from ferry.events order by account, id')).rows
  }
  const late = { kind: 'inventory.late', state: 'raised' }
  expect(await look()).toEqual([
    { ...late, account: 'other' },
    { ...late, account: 'removed' },
  ])
  await pool.query(`delete from ferry.freshness_targets where account = 'removed'`)
  expect(await look()).toEqual([
    { ...late, account: 'other' },
    { ...late, account: 'removed' },
    { ...late, account: 'removed', state: 'resolved' },
  ])
})
