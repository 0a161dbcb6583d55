import { expect, test } from 'vitest'
import { oldEvents } from '#src/db/prune.ts'
import type { Resource } from '#src/model/resource.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { openNotifyHarness } from './notify-harness.ts'

const TARGETS = [
  { ...FRESHNESS_TARGET, keySetting: 'TEAMC_KEY' },
  { ...FRESHNESS_TARGET, resource: 'mcp-servers', folders: null, keySetting: 'TEAMC_KEY' },
] as const

/** A notifier that has looked once, and one whose watch is due again. */
async function setup(env: Record<string, string> = {}) {
  const harness = await openNotifyHarness()
  await saveFreshnessTargets(harness.ferry.pool, TARGETS)
  const syncBoth = async () => {
    await harness.sync()
    await harness.sync({ resource: 'mcp-servers' })
  }
  await syncBoth()
  const look = async () => {
    await using notifier = harness.openNotifier(env)
    await notifier.look()
  }
  /** Lets the inventories be late. */
  const age = () =>
    harness.query(
      `update ferry.sync_runs set started_at = started_at - interval '1 h', finished_at = finished_at - interval '1 h'`,
    )
  const told = () =>
    harness.receiver.messages().map(({ type, data }) => `${type} ${data.inventory} ${data.state}`)
  return Object.assign(harness, { syncBoth, look, age, told })
}

test('a wrong key is one message for both inventories, late and failing, with the setting to set; its end is one too', async () => {
  await using harness = await setup()
  const { sandbox, syncBoth, look, age, told } = harness
  sandbox.state.inject({ kind: 'error', code: 'Unauthorized' })
  for (let n = 0; n < 3; n++) await syncBoth()
  await age()
  await look()
  await look()
  expect(told()).toHaveLength(1)
  const data = harness.receiver.messages()[0]?.data
  expect(data?.summary).toContain('key refused (401): set TEAMC_KEY')
  expect(data).not.toHaveProperty('cause')
  const said = `select distinct data ->> 'schedule' as schedule, data ->> 'keySetting' as setting, count(*)::int from ferry.events
    where is_open group by 1, 2`
  expect(await harness.query(said)).toEqual([
    { schedule: FRESHNESS_TARGET.schedule, setting: 'TEAMC_KEY', count: 4 },
  ])
  sandbox.state.faults.clear()
  await syncBoth()
  await look()
  expect(told().map(line => line.split(' ')[2])).toEqual(['raised', 'resolved'])
})

test('an outage that a night was missed in is over once runs succeed, whatever the night still is', async () => {
  await using harness = await setup()
  const cause = { inventory: 'alert-rules', cause: 'key refused' }
  const late = { kind: 'inventory.late', subject: 'alert-rules' } as const
  const missed = { kind: 'night.missed', subject: '' } as const
  await harness.raise(late, cause)
  await harness.raise(missed, { night: '2026-01-01T03:30:00Z', ...cause })
  await harness.route()
  await harness.resolve(late)
  await harness.route()
  const told = () =>
    harness.query(
      'select e.kind, e.state from ferry.deliveries d join ferry.events e on e.id = d.event order by e.id',
    )
  const both = [
    { kind: 'inventory.late', state: 'raised' },
    { kind: 'inventory.late', state: 'resolved' },
  ]
  expect(await told()).toEqual(both)
  await harness.resolve(missed)
  await harness.route()
  expect(await told()).toEqual(both)
})

test('a cause is told to be over although the event by which its beginning was told ended long before', async () => {
  await using harness = await setup()
  const { sandbox, ferry, query, syncBoth, age, look, told } = harness
  sandbox.state.inject({ kind: 'error', code: 'Unauthorized' })
  for (let n = 0; n < 3; n++) await syncBoth()
  await age()
  await look()
  sandbox.state.faults.clear()
  const first = harness.receiver.messages()[0]?.data.inventory as Resource
  await harness.sync({ resource: first })
  await look()
  await query(`update ferry.events set at = at - interval '100 days'`)
  await query(`update ferry.deliveries set at = at - interval '100 days'`)
  await removeOld(oldEvents(ferry.pool, 90 * DAY_MS))
  await syncBoth()
  await look()
  expect(told().map(line => line.split(' ')[2])).toEqual(['raised', 'resolved'])
  await removeOld(oldEvents(ferry.pool, 90 * DAY_MS))
  expect(await query(`select from ferry.events where at < now() - interval '90 days'`)).toEqual([])
})

test('a receiver that wants one of the events alone is told of the cause by that one', async () => {
  await using harness = await setup({ FERRY_NOTIFY: 'inventory.late' })
  harness.sandbox.state.inject({ kind: 'error', code: 'Unauthorized' })
  for (let n = 0; n < 3; n++) await harness.syncBoth()
  await harness.age()
  await harness.look()
  expect(harness.told()).toEqual(['inventory.late alert-rules raised'])
})

test('another cause, or that of another account, is a message of its own', async () => {
  await using harness = await setup()
  await harness.raise(
    { kind: 'inventory.late', subject: 'alert-rules' },
    { inventory: 'alert-rules', cause: 'key refused' },
  )
  await harness.raise(
    { kind: 'run.failing', subject: 'alert-rules' },
    { inventory: 'alert-rules', cause: 'key refused' },
  )
  await harness.raise(
    { kind: 'run.failing', subject: 'mcp-servers' },
    { inventory: 'mcp-servers', cause: 'platform fails' },
  )
  await harness.raise(
    { kind: 'run.failing', account: 'other', subject: 'alert-rules' },
    { inventory: 'alert-rules', cause: 'key refused' },
  )
  await harness.route()
  const rows = await harness.query('select kind, account, subject from ferry.deliveries order by event')
  expect(rows).toEqual([
    { kind: 'inventory.late', account: 'default', subject: 'alert-rules' },
    { kind: 'run.failing', account: 'default', subject: 'mcp-servers' },
    { kind: 'run.failing', account: 'other', subject: 'alert-rules' },
  ])
  // That it is over is told when it is over for all: the next time is told again, whichever event it is.
  const last = async () => {
    await harness.route()
    const [row] = await harness.query(
      'select d.kind, e.state from ferry.deliveries d join ferry.events e on e.id = d.event order by d.event desc limit 1',
    )
    return row
  }
  await harness.resolve({ kind: 'inventory.late', subject: 'alert-rules' })
  expect(await last()).toEqual({ kind: 'run.failing', state: 'raised' })
  await harness.resolve({ kind: 'run.failing', subject: 'alert-rules' })
  expect(await last()).toEqual({ kind: 'run.failing', state: 'resolved' })
  await harness.raise(
    { kind: 'run.failing', subject: 'alert-rules' },
    { inventory: 'alert-rules', cause: 'key refused' },
  )
  expect(await last()).toEqual({ kind: 'run.failing', state: 'raised' })
  expect(await harness.query('select from ferry.deliveries')).toHaveLength(5)
})

test('of a cause that begins anew in two events at once one is told, also if its last end was not', async () => {
  await using harness = await setup()
  const both = [
    { kind: 'inventory.late', subject: 'alert-rules' },
    { kind: 'inventory.late', subject: 'mcp-servers' },
  ] as const
  const raise = async () => {
    for (const key of both) await harness.raise(key, { inventory: key.subject, cause: 'key refused' })
  }
  await raise()
  await harness.route()
  for (const key of both) await harness.resolve(key)
  // A worker without this receiver had them.
  await harness.query(`update ferry.events set routed_at = now() where routed_at is null`)
  await raise()
  await harness.route()
  const told =
    'select count(*)::int from ferry.deliveries d join ferry.events e on e.id = d.event where e.is_open'
  expect(await harness.query(told)).toEqual([{ count: 1 }])
})
