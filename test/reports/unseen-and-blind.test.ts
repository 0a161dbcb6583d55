import { expect, test } from 'vitest'
import { REPEATED, REPEATED_IN_FOLDER } from '#src/inventory/messages.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/* What a reading says nothing about: rows that it did not have, and times in which there was none. */

/** Complete runs, which began at these times of a day and were applied a second later. Returns their ids as texts. */
async function addRuns(store: TestStore, times: readonly string[], run: Parameters<typeof addRun>[1] = {}) {
  const ids: string[] = []
  for (const time of times) {
    const id = await addRun(store.pool, run)
    await store.pool.query(
      `update ferry.sync_runs set started_at = $2::timestamptz, applied_at = $2::timestamptz + interval '1 s',
         finished_at = $2::timestamptz + interval '1 s' where id = $1`,
      [id, `2026-01-01T${time}Z`],
    )
    ids.push(`${id}`)
  }
  return ids
}

test('a row is unseen since the first of the runs that quarantined it one after another, or that held its removal', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const runs = await addRuns(store, ['01:00', '02:00', '03:00', '04:00', '05:00', '06:00'])
  const [first, second, third, , fifth, sixth] = runs
  const quarantined = [
    // Quarantined again by the run that read it.
    ['x', 'name', second, third],
    ['x', 'name', third, fifth],
    ['y', 'name', first, third],
    ['repeated', REPEATED, third, fifth],
    ['in a folder', REPEATED_IN_FOLDER, third, fifth],
    [null, 'id', third, fifth],
    ['of others', 'name', third, sixth],
  ]
  for (const [n, [id, reason, run, until]] of quarantined.entries()) {
    await pool.query(
      `insert into ferry.quarantined_rows (run_id, position, id, reason, fingerprint, until_run)
       values ($1, $2, $3, $4, gen_random_uuid(), $5)`,
      [run, n, id, reason, until],
    )
  }
  const holds = [
    [
      'default',
      'alert-rules',
      second,
      '05:00:00.5',
      'approved',
      '{ended,since the opening}',
      `{${third},NULL,${third}}`,
    ],
    ['default', 'alert-rules', first, '02:00', 'rejected', '{rejected}', `{${second}}`],
    ['default', 'alert-rules', first, '04:00', 'approved', '{ended before}', `{${second}}`],
    ['default', 'alert-rules', fifth, '05:00:00.5', 'approved', '{opened by it}', `{${fifth}}`],
    ['default', 'mcp-servers', first, '05:00:00.5', 'approved', '{a server}', `{${first}}`],
    ['other', 'alert-rules', first, '05:00:00.5', 'approved', '{of another}', `{${first}}`],
    ['default', 'alert-rules', first, null, null, '{still held}', `{${first}}`],
  ]
  for (const [account, resource, openedBy, endedAt, outcome, ids, since] of holds) {
    await pool.query(
      `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ended_at, outcome, ids, since_runs)
       values ($1, $2, $3, $3, '2026-01-01Z'::timestamptz + $4::interval, $5, $6, $7)`,
      [account, resource, openedBy, endedAt, outcome, ids, since],
    )
  }
  const { rows } = await pool.query({
    text: 'select run_id, id, first_run from ferry_internal.unseen_since($1) order by run_id, id collate "C"',
    values: [[third, fifth]],
    rowMode: 'array',
  })
  expect(rows).toEqual([
    [third, 'rejected', second],
    [third, 'x', second],
    [third, 'y', first],
    [fifth, 'ended', third],
    [fifth, 'rejected', second],
    [fifth, 'since the opening', second],
    [fifth, 'x', second],
  ])
})

async function readings({ pool }: TestStore, from: string, to = from) {
  const { rows } = await pool.query({
    text: `select account, since_run, to_char(since at time zone 'UTC', 'HH24:MI'), run_id, to_char(applied_at at time zone 'UTC', 'HH24:MI:SS'),
        is_blind
      from ferry_internal.readings_between($1, $2) where inventory = 'alert-rules' order by account, run_id`,
    values: [`2026-01-01T${from}Z`, `2026-01-01T${to}Z`],
    rowMode: 'array',
  })
  return rows
}

test('readings are paired with those before them, from the one before a time to the first one after another', async () => {
  await using store = await openTestStore()
  await saveFreshnessTargets(store.pool, [
    { ...FRESHNESS_TARGET, targetMs: 3_600_000 },
    { ...FRESHNESS_TARGET, resource: 'mcp-servers', targetMs: 1, folders: null },
  ])
  await store.pool.query(`update ferry.freshness_targets set target_since = '2025-01-01Z'`)
  const [a, b, c, d, e] = await addRuns(store, ['01:00', '01:30', '02:00', '03:00', '03:30'])
  const pairs = [
    ['default', null, null, a, '01:00:01', true],
    ['default', a, '01:00', b, '01:30:01', false],
    ['default', b, '01:30', c, '02:00:01', false],
    ['default', c, '02:00', d, '03:00:01', true],
    ['default', d, '03:00', e, '03:30:01', false],
    ['default', e, '03:30', null, null, true],
  ]
  expect(await readings(store, '00:30')).toEqual(pairs.slice(0, 1))
  expect(await readings(store, '01:10')).toEqual(pairs.slice(1, 2))
  expect(await readings(store, '01:40', '02:30')).toEqual(pairs.slice(2, 4))
  // At the very instant at which one was applied, and at which the next began.
  expect(await readings(store, '01:30:01')).toEqual(pairs.slice(1, 3))
  expect(await readings(store, '02:00:00')).toEqual(pairs.slice(2, 4))
  expect(await readings(store, '04:00')).toEqual(pairs.slice(5))
  expect(await readings(store, '00:00', '05:00')).toEqual(pairs)
})

test('an inventory without a freshness target has that of the usual settings, for the folders that were read last', async () => {
  await using store = await openTestStore()
  const scope = (...folders: string[]) => ({ scope: { ...NEW_RUN.scope, folders } })
  const [first] = await addRuns(store, ['01:00'], scope('5'))
  await addRuns(store, ['01:01'], scope('6'))
  const [second] = await addRuns(store, ['01:02:59'], scope('5'))
  const [third] = await addRuns(store, ['01:05:58.1'], scope('5'))
  expect(await readings(store, '01:02')).toEqual([['default', first, '01:00', second, '01:03:00', false]])
  expect(await readings(store, '01:04')).toEqual([['default', second, '01:02', third, '01:05:59', true]])
})
