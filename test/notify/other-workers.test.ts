import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { holdLease, removeLeases } from '#test/support/leases.ts'
import { addRun } from '#test/support/runs.ts'
import { openNotifyHarness } from './notify-harness.ts'
import { openReceiver } from './receiver.ts'

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

test('a new receiver is told of what happens while the lease is still that of a lost worker', async () => {
  await using harness = await openNotifyHarness()
  await harness.query('delete from ferry.receivers')
  await harness.raise({ subject: '1' })
  await holdLease(harness.ferry.pool, 'notify', 'a lost worker')
  await using first = harness.openNotifier()
  await first.look()
  await harness.raise({ subject: '2' }, { import: '2', page: '2', code: 'NoLicense', requestId: 'r2' })
  await removeLeases(harness.ferry.pool)
  await using second = harness.openNotifier()
  await second.look()
  expect(harness.receiver.messages()).toMatchObject([{ data: { import: '2' } }])
})

test('a new receiver that could not be recorded at once is not told of what was before', async () => {
  await using harness = await openNotifyHarness()
  await harness.query(`delete from ferry.receivers;
    create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refuse before insert on ferry.receivers for each row execute function public.refuse()`)
  await harness.raise({ subject: '1' })
  await using notifier = harness.openNotifier()
  await expect(notifier.look()).rejects.toThrow('not now')
  await harness.query('drop trigger refuse on ferry.receivers')
  await notifier.look()
  await harness.raise({ subject: '2' }, { import: '2', page: '2', code: 'NoLicense', requestId: 'r2' })
  await notifier.look()
  expect(harness.receiver.messages()).toMatchObject([{ data: { import: '2' } }])
})

test.for(['messages', 'the heartbeat'])(
  'a worker that has only the settings for %s keeps others from nothing else',
  async first => {
    await using harness = await openNotifyHarness()
    await using monitor = await openReceiver()
    for (const resource of ['alert-rules', 'mcp-servers'] as const) {
      await saveFreshnessTargets(harness.ferry.pool, [{ ...FRESHNESS_TARGET, resource, folders: null }])
      await harness.sync({ resource })
    }
    await harness.raise({})
    const beats = { FERRY_WEBHOOK_URL: '', FERRY_WEBHOOK_SECRET: '', FERRY_HEARTBEAT_URL: monitor.url }
    for (const env of first === 'messages' ? [{}, beats] : [beats, {}]) await harness.openNotifier(env).look()
    expect(harness.receiver.messages()).toHaveLength(1)
    expect(monitor.received).toHaveLength(1)
  },
)
