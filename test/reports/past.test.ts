import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

/** Minutes before now: the beginning of the day, so that a day is never cut by midnight. */
async function addRunAt(pool: Pool, at: string, end: object = {}, took = '10 seconds', more: object = {}) {
  const id = await addRun(pool, { ...more, end })
  await pool.query(
    `update ferry.sync_runs set started_at = $2::timestamptz, applied_at = $2, finished_at = $2::timestamptz + $3::interval
     where id = $1`,
    [id, at, took],
  )
  return id
}

const iso = (text: string) => new Date(text)

test('blind_spots names from when to when nothing complete was read, and why', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
  const failed = { status: 'failed', appliedAt: null, errorCode: 'InternalError' }
  await addRunAt(pool, '2026-01-01T00:00:00Z')
  await addRunAt(pool, '2026-01-01T00:02:00Z')
  await addRunAt(pool, '2026-01-01T00:03:00Z', failed)
  await addRunAt(pool, '2026-01-01T00:04:00Z', { status: 'partial' })
  // Fresh until 00:05:00, and stored anew at 00:05:10.
  await addRunAt(pool, '2026-01-01T00:05:00Z', { status: 'held' })
  await addRunAt(pool, '2026-01-01T00:07:00Z', {}, '10 seconds', {
    scope: { ...NEW_RUN.scope, folders: ['5'] },
  })
  await addRunAt(pool, '2026-01-01T00:10:00Z')
  await addRunAt(pool, '2026-01-01T00:11:00Z', {}, '10 seconds', { account: 'not targeted' })
  const { rows } = await pool.query(
    `select account, inventory, "from", "to", lasted::text, late_from, fresh_again_at, error_code
     from ferry.blind_spots('2026-01-01') order by "from"`,
  )
  const [first, second, third, ...others] = rows
  expect(others).toEqual([])
  expect(first).toEqual({
    account: 'default',
    inventory: 'alert-rules',
    from: iso('2026-01-01T00:02:00Z'),
    to: iso('2026-01-01T00:05:00Z'),
    lasted: '00:03:00',
    late_from: iso('2026-01-01T00:05:00Z'),
    fresh_again_at: iso('2026-01-01T00:05:10Z'),
    error_code: null,
  })
  expect(second).toMatchObject({
    from: iso('2026-01-01T00:05:00Z'),
    to: iso('2026-01-01T00:10:00Z'),
    lasted: '00:05:00',
    late_from: iso('2026-01-01T00:08:00Z'),
    error_code: null,
  })
  expect(third).toMatchObject({ from: iso('2026-01-01T00:10:00Z'), to: null, fresh_again_at: null })
  // Gaps that ended before are left out; the run before `since` still counts.
  const later = await pool.query(`select "from" from ferry.blind_spots('2026-01-01T00:06:00Z') order by 1`)
  expect(later.rows.map(row => row.from)).toEqual([iso('2026-01-01T00:05:00Z'), iso('2026-01-01T00:10:00Z')])
})

test('blind_spots names the code of the last run that failed in it, and looks no farther back than runs are kept', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [FRESHNESS_TARGET])
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  await addRunAt(pool, ago(60))
  for (const [at, errorCode] of [
    [50, 'InternalError'],
    [40, 'Unauthorized'],
  ] as const) {
    await addRunAt(pool, ago(at), { status: 'failed', appliedAt: null, errorCode })
  }
  await addRunAt(pool, ago(30))
  const spots = () =>
    pool.query(`select error_code from ferry.blind_spots('2026-01-01') where "to" is not null`)
  expect((await spots()).rows).toEqual([{ error_code: 'Unauthorized' }])
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, runsKeptMs: 600_000 }])
  expect((await spots()).rows).toEqual([])
})

test('of the time before the runs that are kept, blind_spots and freshness_daily say nothing', async () => {
  await using store = await openTestStore()
  const { pool } = store
  // It was kept short until now: what the setting says does not bring runs back.
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, targetMs: 600_000, runsKeptMs: null }])
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  for (const minutes of [5_000, 3_000]) await addRunAt(pool, ago(minutes), { added: 1 })
  for (let minutes = 100; minutes >= 0; minutes -= 5) await addRunAt(pool, ago(minutes))
  const spots = async () =>
    (
      await pool.query(
        `select round(extract(epoch from now() - "from") / 60)::int as ago from ferry.blind_spots() order by 1`,
      )
    ).rows.map(row => row.ago)
  /** How many are far from these: each day is rounded by itself. */
  const minutesBeside = async (all: number, fresh: number) => {
    const { rows } = await pool.query<{ all: number; fresh: number }>(
      'select sum(minutes)::int as all, sum(fresh_minutes)::int as fresh from ferry.freshness_daily()',
    )
    return rows.filter(row => Math.abs(row.all - all) > 2 || Math.abs(row.fresh - fresh) > 2)
  }
  expect(await spots()).toEqual([3_000, 5_000])
  expect(await minutesBeside(5_000, 120)).toEqual([])
  await pool.query(`insert into ferry.history values (true, '-infinity', $1)`, [ago(103)])
  expect(await spots()).toEqual([])
  expect(await minutesBeside(103, 103)).toEqual([])
  // What was not read since then is known all the same.
  await pool.query(`update ferry.history set runs_start_at = $1`, [ago(130)])
  expect(await spots()).toEqual([130])
  await pool.query('delete from ferry.sync_runs where started_at >= $1', [ago(101)])
  expect(await spots()).toEqual([3_000])
})

test('freshness_daily gives for each day the share of its minutes that were fresh', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, targetMs: 6 * 3_600_000, timezone: 'Asia/Tokyo' }])
  const { rows: days } = await pool.query<{ d: string }>(
    `select (date_trunc('day', now() at time zone 'Asia/Tokyo') - n * interval '1 day')::date::text as d from generate_series(3, 0, -1) n`,
  )
  const at = (day: number, time: string) => `${days[day]?.d}T${time}+09:00`
  await addRunAt(pool, at(0, '12:00'), {}, '0')
  await addRunAt(pool, at(0, '18:00'), {}, '0')
  await addRunAt(pool, at(1, '03:00'), {}, '0')
  await addRunAt(pool, at(1, '06:00'), {}, '0')
  await addRunAt(pool, at(2, '12:00'), {}, '0')
  const { rows } = await pool.query(
    `select day::text, minutes, fresh_minutes, share from ferry.freshness_daily(now() - interval '10 days')
     where day < $1 order by day`,
    [days[3]?.d],
  )
  expect(rows).toEqual([
    // From 12:00, the first listing, to midnight: fresh all the time.
    { day: days[0]?.d, minutes: 720, fresh_minutes: 720, share: 1 },
    // Late from 00:00 to 03:00 and from 12:00 on.
    { day: days[1]?.d, minutes: 1_440, fresh_minutes: 540, share: 0.375 },
    { day: days[2]?.d, minutes: 1_440, fresh_minutes: 360, share: 0.25 },
  ])
})

test('freshness_daily counts no time twice when runs take longer than the target', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, targetMs: 3_600_000, timezone: 'UTC' }])
  const { rows: days } = await pool.query<{ d: string }>(
    `select (now() at time zone 'UTC')::date - 1 || '' as d`,
  )
  for (let hour = 0; hour < 24; hour += 2) {
    await addRunAt(pool, `${days[0]?.d}T${`${hour}`.padStart(2, '0')}:00Z`, {}, '3 hours')
  }
  const spots = await pool.query<{ overlaps: boolean }>(
    `select late_from < lag(fresh_again_at) over (order by late_from) as overlaps from ferry.blind_spots()`,
  )
  expect(spots.rows.filter(({ overlaps }) => overlaps)).toEqual([])
  const { rows } = await pool.query(
    `select minutes, fresh_minutes from ferry.freshness_daily() where day = $1::date`,
    [days[0]?.d],
  )
  // From 03:00, when the first one had finished. What a run has read is three hours old once it is there.
  expect(rows).toEqual([{ minutes: 1_260, fresh_minutes: 0 }])
})

test('nights has one row a night: the snapshot of the schedule, or that it was missed', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [
    {
      ...FRESHNESS_TARGET,
      resource: 'mcp-servers',
      targetMs: 2_700_000, // polled by day, which says nothing of the nights
      timezone: 'Asia/Tokyo',
      folders: null,
    },
  ])
  const add = (slot: string | null, taken: string, status: string) =>
    pool.query(
      `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
       values ('default', $1, $2, $3, 1, 2)`,
      [slot, taken, status],
    )
  const { rows: clock } = await pool.query<{ today: string }>(
    `select ((now() at time zone 'Asia/Tokyo')::date)::text as today`,
  )
  const day = (ago: number) =>
    new Date(Date.parse(`${clock[0]?.today}T00:00Z`) - ago * 86_400_000).toISOString().slice(0, 10)
  const night = (ago: number) => `${day(ago)}T00:00:01+09:00`
  await add(night(6), night(6), 'succeeded')
  await add(night(5), night(5), 'held')
  await add(null, `${day(5)}T20:00+09:00`, 'succeeded')
  await add(night(2), night(2), 'partial')
  await add(night(1), night(1), 'succeeded')
  await add(night(0), night(0), 'succeeded')
  const { rows } = await pool.query(
    'select night::text, status, snapshot, alert_rules_run from ferry.nights() order by night',
  )
  expect(rows).toEqual([
    { night: day(6), status: 'succeeded', snapshot: '1', alert_rules_run: '1' },
    { night: day(5), status: 'held', snapshot: '2', alert_rules_run: '1' },
    { night: day(4), status: 'missed', snapshot: null, alert_rules_run: null },
    { night: day(3), status: 'missed', snapshot: null, alert_rules_run: null },
    { night: day(2), status: 'partial', snapshot: '4', alert_rules_run: '1' },
    { night: day(1), status: 'succeeded', snapshot: '5', alert_rules_run: '1' },
    { night: day(0), status: 'succeeded', snapshot: '6', alert_rules_run: '1' },
  ])
  const since = await pool.query(`select night::text from ferry.nights($1) order by 1 limit 1`, [night(3)])
  expect(since.rows).toEqual([{ night: day(3) }])
})

test('nights misses only the days of the week on which its schedule is due', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const weekdays = [1, 2, 3, 4, 5]
  const target = {
    ...FRESHNESS_TARGET,
    resource: 'mcp-servers',
    nightMs: 73 * 3_600_000,
    folders: null,
    weekdays,
  } as const
  await saveFreshnessTargets(pool, [target])
  await pool.query(
    `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
     select 'default', date_trunc('week', now() at time zone 'UTC') at time zone 'UTC' - n * interval '1 day' + interval '3 hours', 'succeeded', 1, 1
     from unnest(array[7, 3]) n`,
  )
  const { rows } = await pool.query<{ name: string; status: string }>(
    `select to_char(night, 'Dy') as name, status from ferry.nights(now() - interval '30 days')
     where night < date_trunc('week', now() at time zone 'UTC') order by night`,
  )
  expect(rows.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'Mon succeeded',
    'Tue missed',
    'Wed missed',
    'Thu missed',
    'Fri succeeded',
  ])
})

test('nights shows every night of its time, however long ago the last snapshot was', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const target = {
    ...FRESHNESS_TARGET,
    resource: 'mcp-servers',
    folders: null,
  } as const
  await saveFreshnessTargets(pool, [target])
  const days = async (since: string) => {
    const { rows } = await pool.query<{ ago: number; status: string; account: string }>(
      `select current_date - night as ago, status, account from ferry.nights(now() - $1::interval) order by 1 desc`,
      [since],
    )
    return rows.map(({ account, ago, status }) => `${account} ${ago} ${status}`)
  }
  for (const account of ['default', 'gone']) {
    await pool.query(
      `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
       values ($1, now() - interval '50 days 1 minute', 'succeeded', 1, 1)`,
      [account],
    )
  }
  const missed = (from: number) => Array.from({ length: from }, (_, n) => `default ${from - n} missed`)
  expect((await days('3 days')).filter(line => !line.includes(' 0 '))).toEqual(missed(3))
  // Nobody targets nights of the other account any more: it missed none lately.
  expect((await days('60 days')).filter(line => line.startsWith('gone'))).toEqual(['gone 50 succeeded'])
})

test('a listing of all folders keeps the target of some, for freshness as for blind spots', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, folders: ['5'] }])
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const of = (folders: string[]) => ({ scope: { ...NEW_RUN.scope, folders } })
  await addRunAt(pool, ago(20), {}, '1 second', of(['0']))
  await addRunAt(pool, ago(19), {}, '1 second', of(['6']))
  for (const minutes of [18, 16, 14]) await addRunAt(pool, ago(minutes), {}, '1 second', of(['5']))
  for (const minutes of [12, 10, 8, 6, 4, 2]) await addRunAt(pool, ago(minutes), {}, '1 second', of(['0']))
  expect((await pool.query('select state from ferry.freshness')).rows).toEqual([{ state: 'fresh' }])
  expect((await pool.query('select * from ferry.blind_spots()')).rows).toEqual([])
  // From the first listing of either kind on.
  const { rows } = await pool.query(
    'select sum(minutes)::int as minutes, min(share) as share from ferry.freshness_daily()',
  )
  expect(rows).toEqual([{ minutes: 20, share: 1 }])
})
