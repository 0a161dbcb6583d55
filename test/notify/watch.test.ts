import { expect, test } from 'vitest'
import { recordSkipped } from '#src/inventory/runs/ledger.ts'
import { watch } from '#src/notify/watch.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import type { Timing } from '#src/schedules/timing.ts'
import { questionsOf } from '#src/worker/notifications.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { type NotifyHarness, openNotifyHarness } from './notify-harness.ts'
import { status } from './receiver.ts'

/** Without `nightly`, no night was due since anything ran. */
function watchOf(harness: NotifyHarness, nightly: Timing = { everyMs: Number.MAX_SAFE_INTEGER }) {
  return watch({ pool: harness.ferry.pool, accounts: ['default'], ask: questionsOf(nightly) })
}

async function told(harness: NotifyHarness): Promise<string[]> {
  const rows = await harness.query<{ line: string }>(
    `select trim(concat_ws(' ', kind, state, account, subject)) as line from ferry.events order by id`,
  )
  return rows.map(({ line }) => line)
}

test('an inventory whose last three runs failed is told once, and once that one succeeded', async () => {
  await using harness = await openNotifyHarness()
  const failing = async (times: number) => {
    for (let n = 0; n < times; n++) {
      harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
      expect(await harness.sync()).toMatchObject({ status: 'failed' })
    }
  }
  await failing(2)
  await watchOf(harness)
  expect(await told(harness)).toEqual([])
  // A run that was skipped says nothing of the platform.
  await recordSkipped(harness.ferry.pool, NEW_RUN, 'another run is syncing it')
  await failing(1)
  await watchOf(harness)
  await failing(1)
  await watchOf(harness)
  expect(await told(harness)).toEqual(['run.failing raised default alert-rules'])
  const [event] = await harness.query('select data from ferry.events')
  expect(event).toMatchObject({
    data: {
      inventory: 'alert-rules',
      run: '4',
      code: 'AccessDenied',
      why: 'failed',
      cause: 'permission missing',
    },
  })
  harness.sandbox.state.faults.clear()
  expect(await harness.sync()).toMatchObject({ status: 'succeeded' })
  await watchOf(harness)
  expect(await told(harness)).toEqual([
    'run.failing raised default alert-rules',
    'run.failing resolved default alert-rules',
  ])
})

const DAY_MS = 86_400_000

/** Nights that are due at this time of the day. */
async function nightsDue(harness: NotifyHarness, minutesAgo: number): Promise<Timing> {
  const [row] = await harness.query<{ now: Date }>('select clock_timestamp() as now')
  return { everyMs: DAY_MS, offsetMs: (row!.now.getTime() - minutesAgo * 60_000) % DAY_MS }
}

async function takeSnapshot(harness: NotifyHarness, run: bigint, at: Date): Promise<void> {
  await harness.query(
    `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
     values ('default', $2, $2, 'succeeded', $1, $1)`,
    [run, at],
  )
}

test('a night without a snapshot is told an hour later, and once that a snapshot was taken', async () => {
  await using harness = await openNotifyHarness()
  const nightly = await nightsDue(harness, 61)
  const look = () => watchOf(harness, nightly)
  await look()
  expect(await told(harness)).toEqual([]) // The account was not there yet.

  const { run } = await harness.sync()
  await harness.query(`update ferry.sync_runs set started_at = started_at - interval '2 h'`)
  await look()
  await look()
  expect(await told(harness)).toEqual(['night.missed raised default'])
  await takeSnapshot(harness, run, new Date())
  await look()
  expect(await told(harness)).toEqual(['night.missed raised default', 'night.missed resolved default'])

  await harness.query(`update ferry.snapshots set taken_at = taken_at - interval '1 day'`)
  await harness.query(
    `insert into ferry.schedule_pauses (account, schedule) values ('default', 'snapshot-inventory')`,
  )
  await look()
  expect(await told(harness)).toHaveLength(2) // Somebody wanted no snapshot.
})

test('a night that is missed because runs fail has the cause of the failures', async () => {
  await using harness = await openNotifyHarness()
  await harness.sync()
  await harness.query(`update ferry.sync_runs set started_at = started_at - interval '2 h'`)
  for (let n = 0; n < 3; n++) {
    harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
    await harness.sync()
  }
  await watchOf(harness, await nightsDue(harness, 61))
  const [night] = await harness.query(`select data from ferry.events where kind = 'night.missed'`)
  expect(night).toMatchObject({ data: { code: 'AccessDenied', cause: 'permission missing' } })
})

test('that the polls of one inventory are paused is no reason for a night that is missed', async () => {
  await using harness = await openNotifyHarness()
  await syncBoth(harness)
  await ageRuns(harness.ferry.pool, '2 hours')
  await target(harness)
  await harness.query(`insert into ferry.schedule_pauses (account, schedule) values ('default', $1)`, [
    FRESHNESS_TARGET.schedule,
  ])
  await watchOf(harness, await nightsDue(harness, 61))
  const [night] = await harness.query(`select data from ferry.events where kind = 'night.missed'`)
  expect(night).toMatchObject({ data: { night: expect.any(String) } })
  expect(night).not.toHaveProperty('data.cause')
  expect(await harness.query(`select from ferry.events where data ->> 'cause' like 'paused%'`)).not.toEqual(
    [],
  )
})

test.each([
  [59, []],
  [61, ['night.missed raised default']],
])(
  'a night that was due %i minutes ago is told if ferry.nights has it as missed',
  async (minutes, events) => {
    await using harness = await openNotifyHarness()
    const { run } = await harness.sync()
    await harness.query(`update ferry.sync_runs set started_at = started_at - interval '2 days'`)
    await target(harness)
    await takeSnapshot(harness, run, new Date(Date.now() - DAY_MS - minutes * 60_000 + 1_000))
    await watchOf(harness, await nightsDue(harness, minutes))
    expect((await told(harness)).filter(line => line.startsWith('night'))).toEqual(events)
    expect(await harness.query(`select from ferry.nights() where status = 'missed'`)).toHaveLength(
      events.length,
    )
  },
)

/** Sets targets as a worker does when it starts. */
function target({ ferry }: NotifyHarness): Promise<void> {
  return saveFreshnessTargets(ferry.pool, [
    FRESHNESS_TARGET,
    { ...FRESHNESS_TARGET, resource: 'mcp-servers', folders: null },
  ])
}

async function syncBoth(harness: NotifyHarness): Promise<void> {
  for (const resource of ['alert-rules', 'mcp-servers'] as const) await harness.sync({ resource })
}

test('an inventory that is older than its freshness target is told, and that it is fresh again', async () => {
  await using harness = await openNotifyHarness()
  await target(harness)
  await syncBoth(harness)
  await watchOf(harness)
  expect(await told(harness)).toEqual([])
  await harness.query(
    `update ferry.sync_runs set started_at = started_at - interval '4 min' where resource = 'alert-rules'`,
  )
  await watchOf(harness)
  await watchOf(harness)
  await harness.sync()
  await watchOf(harness)
  expect(await told(harness)).toEqual([
    'inventory.late raised default alert-rules',
    'inventory.late resolved default alert-rules',
  ])
})

test('an inventory that was never read is told once its target has passed since it was made, and when it is read', async () => {
  await using harness = await openNotifyHarness()
  const pass = (time: string) =>
    harness.query(`update ferry.freshness_targets set target_since = target_since - $1::interval`, [time])
  await saveFreshnessTargets(harness.ferry.pool, [FRESHNESS_TARGET])
  await pass('170 s')
  await watchOf(harness)
  expect(await told(harness)).toEqual([])
  await pass('11 s')
  await saveFreshnessTargets(harness.ferry.pool, [FRESHNESS_TARGET]) // A worker that starts again gives it no more time.
  await watchOf(harness)
  await watchOf(harness)
  expect(await told(harness)).toEqual(['inventory.late raised default alert-rules'])
  await harness.sync()
  await watchOf(harness)
  expect((await told(harness)).at(-1)).toBe('inventory.late resolved default alert-rules')
})

test('other folders have the time of the target to be read first', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
  await harness.query(`update ferry.freshness_targets set target_since = target_since - interval '1 h'`)
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, folders: ['7'] }])
  await watchOf(harness)
  expect(await told(harness)).toEqual([])
})

test('of an inventory that is late and whose runs fail both are told, and each is over for itself', async () => {
  await using harness = await openNotifyHarness()
  await saveFreshnessTargets(harness.ferry.pool, [FRESHNESS_TARGET])
  await harness.sync()
  await harness.query(`update ferry.sync_runs set started_at = started_at - interval '4 min'`)
  await watchOf(harness)
  for (let n = 0; n < 3; n++) {
    harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
    await harness.sync()
  }
  await watchOf(harness)
  const both = ['inventory.late raised default alert-rules', 'run.failing raised default alert-rules']
  expect(await told(harness)).toEqual(both)
  harness.sandbox.state.faults.clear()
  await harness.sync()
  await watchOf(harness)
  expect((await told(harness)).slice(2).toSorted()).toEqual(
    both.map(line => line.replace('raised', 'resolved')),
  )
})

test('events of an account that no worker has any more are over', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({ kind: 'run.failing', account: 'other', subject: 'alert-rules' })
  await watchOf(harness)
  expect(await told(harness)).toEqual([
    'run.failing raised other alert-rules',
    'run.failing resolved other alert-rules',
  ])
})

test('the heartbeat is called while everything is fresh, by one worker, and not while something is late', async () => {
  await using harness = await openNotifyHarness()
  const { receiver } = harness
  const env = { FERRY_WEBHOOK_URL: '', FERRY_HEARTBEAT_URL: receiver.url }
  const beat = async () => {
    await using one = harness.openNotifier(env)
    await using other = harness.openNotifier(env)
    await Promise.all([one.look(), other.look()])
    await one.look()
  }
  await beat()
  expect(receiver.received).toEqual([]) // Nothing was read so far.
  await target(harness)
  await syncBoth(harness)
  await beat()
  expect(receiver.received).toMatchObject([{ method: 'GET', path: '/hook?for=ferry', body: '' }])
  receiver.answer = status(500)
  await beat()
  await harness.query(
    `update ferry.sync_runs set started_at = started_at - interval '4 min' where resource = 'mcp-servers'`,
  )
  await beat()
  expect(receiver.received).toHaveLength(2)
})
