import { expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import { addRun } from '#test/support/runs.ts'
import { openNotifyHarness } from './notify-harness.ts'

test('the worker that tells of what is wrong tells of the accounts of all workers, not of those that nobody has', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  for (const account of ['other', 'silent', 'gone', 'nobody']) {
    await pool.query(
      `insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders, target_since)
       values ($1, 'alert-rules', '1 hour', 'poll-alert-rules', 'UTC', '["0"]', now() - interval '1 day')`,
      [account],
    )
    if (account !== 'nobody') await recordWorker(pool, `worker of ${account}`, null, [account, 'default'])
  }
  await addRun(pool, { account: 'default' })
  const age = (account: string, by: string) =>
    pool.query(`update ferry.workers set seen_at = now() - $2::interval where holder = $1`, [
      `worker of ${account}`,
      by,
    ])
  await age('silent', '23 hours')
  await age('gone', '25 hours')
  await harness.openNotifier().look()
  const { rows } = await pool.query('select kind, account from ferry.events order by account')
  expect(rows).toEqual([
    { kind: 'inventory.late', account: 'other' },
    { kind: 'inventory.late', account: 'silent' },
  ])
})
