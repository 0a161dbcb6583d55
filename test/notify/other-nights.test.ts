import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { readClock } from '#src/db/clock.ts'
import { inTransaction } from '#src/db/pool.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { tickAfter } from '#src/model/cron-time.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { questionsOf } from '#src/worker/notifications.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

const HOUR_MS = 3_600_000

const NEVER = new AbortController().signal

test('a night is not missed that is due only since the settings were changed', async () => {
  await using harness = await openFerryHarness({ rules: 1, servers: 0 })
  const { pool } = harness.ferry
  await syncInventory(
    harness.ferry,
    { account: 'default', resource: 'alert-rules', trigger: 'manual' },
    NEVER,
  )
  await ageRuns(pool, '9 days')
  await pool.query(
    `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
     values ('default', now() - interval '3 days', 'succeeded', 1, 1)`,
  )
  const targets = ([nightlyCron, timezone]: readonly [string | null, string]) =>
    saveFreshnessTargets(pool, [
      { ...FRESHNESS_TARGET, resource: 'mcp-servers', folders: null, nightlyCron, timezone },
    ])
  const ask = questionsOf({ cron: '0 3 * * *', timezone: 'UTC' })
  const missed = async () => {
    const told = await inTransaction(pool, client => ask.listMissedNights(client, ['default']))
    const shown = await harness.query(`select from ferry.nights() where status = 'missed'`)
    return [told.length, shown.length > 0]
  }
  // An earlier version did not say when nights are due: those of before are judged by what the first one says.
  await targets([null, 'UTC'])
  await targets(['0 3 * * *', 'UTC'])
  expect(await missed()).toEqual([1, true])
  for (const others of [
    ['0 4 * * *', 'UTC'],
    ['0 4 * * *', 'Asia/Tokyo'],
  ] as const) {
    await targets(others)
    expect(await missed()).toEqual([0, false])
    await targets(others)
    expect(await missed()).toEqual([0, false])
    await harness.query(`update ferry.freshness_targets set night_since = '-infinity'`)
    expect(await missed()).toEqual([1, true])
  }
})

test('the nights of an account are those of the worker that has it, whichever worker tells of them', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const hoursAgo = (hours: number) => new Date(Math.floor(Date.now() / 60_000) * 60_000 - hours * HOUR_MS)
  const cronOf = (at: Date) => `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`
  const nights = { early: hoursAgo(20), late: hoursAgo(10), missing: hoursAgo(5) }
  for (const [account, night] of Object.entries(nights)) {
    await ageRuns(pool, '3 days', await addRun(pool, { account }))
    await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, account, nightlyCron: cronOf(night) }])
    const takenAt = account === 'missing' ? hoursAgo(29) : night
    await pool.query(
      `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
       values ($1, $2, $2, 'succeeded', 1, 1)`,
      [account, takenAt],
    )
  }
  const ask = questionsOf({ cron: cronOf(nights.late), timezone: 'UTC' })
  const missed = await inTransaction(pool, client => ask.listMissedNights(client, Object.keys(nights)))
  expect(missed).toEqual([{ account: 'missing', night: nights.missing }])
})

/** A day, counted from today, and a time of it. */
type Moment = readonly [days: number, time: string]

const MOVED: readonly {
  readonly title: string
  readonly from: string
  readonly to: string
  /** The first time at which a night is due after the change. */
  readonly first: Moment
  readonly taken: readonly Moment[]
  /** Days, counted from today. */
  readonly missed: readonly number[]
}[] = [
  {
    title: 'to later, after a night was taken',
    from: '30 3 * * *',
    to: '0 9 * * *',
    first: [-2, '09:00'],
    taken: [
      [-3, '03:30'],
      [-1, '09:00'],
    ],
    missed: [-2],
  },
  {
    title: 'to later, before a night was due',
    from: '30 3 * * *',
    to: '0 9 * * *',
    first: [-3, '09:00'],
    taken: [
      [-4, '03:30'],
      [-2, '09:00'],
      [-1, '09:00'],
    ],
    missed: [-3],
  },
  {
    title: 'to later, and the first night at that time is taken by hand before it',
    from: '30 3 * * *',
    to: '0 9 * * *',
    first: [-2, '09:00'],
    taken: [
      [-3, '03:30'],
      [-2, '03:30'],
      [-1, '09:00'],
    ],
    missed: [],
  },
  {
    title: 'to earlier, after a night was taken',
    from: '0 14 * * *',
    to: '30 3 * * *',
    first: [-2, '03:30'],
    taken: [
      [-3, '14:00'],
      [-1, '03:30'],
    ],
    missed: [-2],
  },
  {
    title: 'to earlier, before a night was due, which then never is',
    from: '0 14 * * *',
    to: '30 3 * * *',
    first: [-2, '03:30'],
    taken: [
      [-4, '14:00'],
      [-1, '03:30'],
    ],
    missed: [-2],
  },
  {
    title: 'to earlier, and each night is taken that is due',
    from: '0 14 * * *',
    to: '30 3 * * *',
    first: [-2, '03:30'],
    taken: [
      [-4, '14:00'],
      [-2, '03:30'],
      [-1, '03:30'],
    ],
    missed: [],
  },
  {
    title: 'to every second day',
    from: '30 3 * * *',
    to: '0 9 */2 * *',
    first: [-4, '09:00'],
    taken: [
      [-5, '03:30'],
      [-2, '09:00'],
    ],
    missed: [-4],
  },
]

test.for(MOVED)(
  'a nightly time is moved $title: the nights are missed that were due at the new time',
  async ({ from, to, first, taken, missed }) => {
    await using store = await openTestStore()
    const { pool } = store
    const at = ([days, time]: Moment) => `(date_trunc('day', now(), 'UTC') + '${days} days ${time}')`
    await moveNights(pool, from, to, at(first))
    for (const slot of taken) await addSnapshot(pool, at(slot))
    // Whether the night before this one was missed depends on when the test runs.
    const { rows } = await pool.query(
      `select night - (now() at time zone 'UTC')::date as day from ferry.nights() where status = 'missed'
       and night < (now() at time zone 'UTC')::date order by 1`,
    )
    expect(rows.map(({ day }) => day)).toEqual(missed)
  },
)

test('the first night after a change is missed an hour after its new time', async () => {
  for (const [minutes, isMissed] of [
    [50, false],
    [70, true],
  ] as const) {
    await using store = await openTestStore()
    const { pool } = store
    const first = `(now() - '${minutes} minutes'::interval)`
    await moveNights(pool, '30 3 * * *', '0 9 * * *', first)
    await addSnapshot(pool, `${first} - interval '26 hours'`)
    const { rowCount } = await pool.query(`select from ferry.nights() where status = 'missed'`)
    expect([minutes, rowCount === 1]).toEqual([minutes, isMissed])
  }
})

/** Moves the nightly time, so that a night is first due then at `first` (SQL). */
async function moveNights(pool: Pool, from: string, to: string, first: string): Promise<void> {
  const target = { ...FRESHNESS_TARGET, resource: 'mcp-servers' as const, folders: null }
  const nightMs = to.includes('/2') ? 49 * HOUR_MS : target.nightMs
  const before = (await readClock(pool)).now
  for (const nightlyCron of [from, to])
    await saveFreshnessTargets(pool, [{ ...target, nightMs, nightlyCron }])
  const { rows } = await pool.query<{ since: Date }>(
    'select night_since as since from ferry.freshness_targets',
  )
  expect(rows).toEqual([{ since: tickAfter({ cron: to, timezone: 'UTC' }, before) }])
  await pool.query(`update ferry.freshness_targets set night_since = ${first}`)
}

async function addSnapshot(pool: Pool, slot: string): Promise<void> {
  await pool.query(
    `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
     values ('default', ${slot}, ${slot}, 'succeeded', 1, 1)`,
  )
}
