import { expect, test } from 'vitest'
import { recordSkipped } from '#src/inventory/ledger.ts'
import { type Watched, watch } from '#src/notify/watch.ts'
import { savePromises } from '#src/reports/promises.ts'
import { PROMISE } from '#test/support/promise.ts'
import { NEW_RUN } from '#test/support/runs.ts'
import { type NotifyHarness, openNotifyHarness } from './notify-harness.ts'
import { status } from './receiver.ts'

/** No night was due since anything ran. */
const LONG_AGO = new Date(0)

function watchOf(harness: NotifyHarness, nightBefore: Watched['nightBefore'] = () => LONG_AGO) {
  return watch({ pool: harness.ferry.pool, accounts: ['default'], nightBefore })
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
  expect(event).toEqual({ data: { inventory: 'alert-rules', run: '4', code: 'AccessDenied' } })
  harness.sandbox.state.faults.clear()
  expect(await harness.sync()).toMatchObject({ status: 'succeeded' })
  await watchOf(harness)
  expect(await told(harness)).toEqual([
    'run.failing raised default alert-rules',
    'run.failing resolved default alert-rules',
  ])
})

test('a night without a snapshot is told an hour later, and once that a snapshot was taken', async () => {
  await using harness = await openNotifyHarness()
  const asked: Date[] = []
  const now = (await harness.query<{ now: Date }>('select clock_timestamp() as now'))[0]!.now
  let night = new Date(now.getTime() - 60_000)
  const look = () =>
    watchOf(harness, at => {
      asked.push(at)
      return night
    })
  await look()
  expect(await told(harness)).toEqual([]) // The account was not there yet.
  expect(now.getTime() - asked[0]!.getTime()).toBeCloseTo(3_600_000, -6)

  const { run } = await harness.sync()
  await harness.query(`update ferry.sync_runs set started_at = started_at - interval '1 h'`)
  await look()
  await look()
  expect(await told(harness)).toEqual(['night.missed raised default'])
  await harness.query(
    `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
     values ('default', clock_timestamp(), 'succeeded', $1, $1)`,
    [run],
  )
  await look()
  expect(await told(harness)).toEqual(['night.missed raised default', 'night.missed resolved default'])

  night = new Date(now.getTime() + 60_000)
  await harness.query(
    `insert into ferry.schedule_pauses (schedule, account) values ('snapshot-inventory', 'default')`,
  )
  await look()
  expect(await told(harness)).toHaveLength(2) // Somebody wanted no snapshot.
})

/** Promises as a worker does when it starts. */
function promise({ ferry }: NotifyHarness): Promise<void> {
  return savePromises(ferry.pool, [PROMISE, { ...PROMISE, resource: 'mcp-servers', folders: null }])
}

async function syncBoth(harness: NotifyHarness): Promise<void> {
  for (const resource of ['alert-rules', 'mcp-servers'] as const) await harness.sync({ resource })
}

test('an inventory that is older than promised is told, and that it is fresh again', async () => {
  await using harness = await openNotifyHarness()
  await promise(harness)
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

test('an inventory that was never read is told once its promise has passed since it was made, and when it is read', async () => {
  await using harness = await openNotifyHarness()
  const pass = (time: string) =>
    harness.query(`update ferry.inventory_promises set promised_since = promised_since - $1::interval`, [
      time,
    ])
  await savePromises(harness.ferry.pool, [PROMISE])
  await pass('170 s')
  await watchOf(harness)
  expect(await told(harness)).toEqual([])
  await pass('11 s')
  await savePromises(harness.ferry.pool, [PROMISE]) // A worker that starts again gives it no more time.
  await watchOf(harness)
  await watchOf(harness)
  expect(await told(harness)).toEqual(['inventory.late raised default alert-rules'])
  await harness.sync()
  await watchOf(harness)
  expect((await told(harness)).at(-1)).toBe('inventory.late resolved default alert-rules')
})

test('other folders have the time of the promise to be read first', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  await savePromises(pool, [PROMISE])
  await harness.query(`update ferry.inventory_promises set promised_since = promised_since - interval '1 h'`)
  await savePromises(pool, [{ ...PROMISE, folders: ['7'] }])
  await watchOf(harness)
  expect(await told(harness)).toEqual([])
})

test('of an inventory that is late and whose runs fail both are told, and each is over for itself', async () => {
  await using harness = await openNotifyHarness()
  await savePromises(harness.ferry.pool, [PROMISE])
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

test('events of an account that this worker does not have are left alone', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({ kind: 'run.failing', account: 'other', subject: 'alert-rules' })
  await watchOf(harness)
  expect(await told(harness)).toEqual(['run.failing raised other alert-rules'])
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
  await promise(harness)
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
