import { expect, test } from 'vitest'
import { REPEATED, REPEATED_IN_FOLDER } from '#src/inventory/messages.ts'
import type { RunEnd } from '#src/inventory/runs/ledger.ts'
import { loadAround } from '#src/reports/around.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertServerVersion } from '#test/support/versions.ts'

/* What happened around a moment, and since when it may have. */

const NOON = '2026-11-01T12:00:00Z'

test('removals held in some folders have been absent since the last reading of these', async () => {
  await using harness = await openFerryHarness({ rules: 30, servers: 0, folders: 1 })
  const { state } = harness.sandbox
  const folders = [state.rules.rows()[0]!.folder_id]
  for (let n = 0; n < 2; n++) await harness.sync({ folders })
  for (const id of state.rules.ids().slice(0, 25)) state.removeRule(id)
  expect(await harness.sync({ folders })).toMatchObject({ status: 'held' })
  const { rows } = await loadAround(harness.ferry.pool, { at: new Date(), spanMs: 3_600_000 }, 100)
  const [held] = rows.filter(({ kind }) => kind === 'removals.held')
  expect(held?.since).toBeInstanceOf(Date)
})

test('the database knows repeated rows by the reasons that are stored', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const [unseen] = await harness.query<{ text: string }>(
    `select pg_get_functiondef('ferry_internal.unseen_since(bigint[])'::regprocedure) as text`,
  )
  for (const reason of [REPEATED, REPEATED_IN_FOLDER]) expect(unseen?.text).toContain(`'${reason}'`)
})

test('a rule that was listed twice was read all the same', async () => {
  await using harness = await openFerryHarness({ rules: 3, servers: 0 })
  const { state } = harness.sandbox
  const [rule] = state.rules.rows()
  await harness.sync()
  const body = () =>
    JSON.stringify([...state.rules.rows(), rule], (_, value) =>
      typeof value === 'bigint' ? Number(value) : value,
    )
  state.replaceRulesBody(body())
  expect(await harness.sync()).toMatchObject({ quarantined: 1 })
  state.replaceRulesBody(null)
  state.changeRule(rule!.id, { name: 'renamed' })
  await harness.sync()
  const { rows } = await loadAround(harness.ferry.pool, { at: new Date(), spanMs: 3_600_000 }, 100)
  const [changed] = rows.filter(({ kind }) => kind === 'rule.changed')
  expect(changed?.since).toBeInstanceOf(Date)
})

test('a server that a first reading found was not added, though others changed in that reading', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  const [before, then] = [2, 1].map(n => new Date(Date.now() - n * 600_000)) as [Date, Date]
  const run = {
    resource: 'mcp-servers',
    scope: { folders: [], includeAccount: null, keyHash: 'key' },
  } as const
  await addRun(pool, { ...run, end: { appliedAt: before.toISOString(), added: 1 } })
  await addRun(pool, { ...run, end: { appliedAt: then.toISOString(), added: 1, firstRead: 1, changed: 1 } })
  const found = { account: 'default', appeared: 'first reading' } as const
  await insertServerVersion(pool, { ...found, id: 'known', name: 'old', from: before, to: then })
  await insertServerVersion(pool, { account: 'default', id: 'known', name: 'new', from: then })
  await insertServerVersion(pool, { ...found, id: 'found', name: 'found', from: then })
  const { rows } = await loadAround(pool, { at: new Date(), spanMs: 3_600_000 }, 100)
  expect(
    rows.filter(({ kind }) => kind.startsWith('server.')).map(({ kind, name }) => `${kind} ${name}`),
  ).toEqual(['server.changed new'])
})

test('a reading knows what is absent if the one before it had the same key, but for its folders', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const readings = [
    ['one', '0'],
    ['one', '7'],
    ['one', '0'],
    ['other', '7'],
    ['one', '0'],
    ['one', '0'],
  ] as const
  for (const [keyHash, folder] of readings) {
    await addRun(harness.ferry.pool, { scope: { folders: [folder], includeAccount: null, keyHash } })
  }
  await addRun(harness.ferry.pool, {
    account: 'b',
    scope: { folders: ['0'], includeAccount: null, keyHash: 'b' },
  })
  await addRun(harness.ferry.pool, { scope: { folders: ['0'], includeAccount: null, keyHash: 'one' } })
  const known = await harness.query<{ knows_absent: boolean }>(
    `select knows_absent from ferry_internal.complete_runs where account = 'default' order by id`,
  )
  expect(known.map(run => run.knows_absent)).toEqual([false, false, true, false, false, false, false])
})

test('a reading that is under way at a moment ends what is not known of it', async () => {
  await using store = await openTestStore()
  const [first, second] = [await addRun(store.pool), await addRun(store.pool)]
  for (const [run, hour] of [
    [first, '2026-11-01 08'],
    [second, '2026-11-01 10'],
  ]) {
    await store.pool.query(
      `update ferry.sync_runs set started_at = $2::timestamptz, applied_at = $2::timestamptz + interval '2 min',
         finished_at = $2::timestamptz + interval '2 min' where id = $1`,
      [run, `${hour}:00Z`],
    )
  }
  const { rows } = await store.pool.query(
    `select since_run, run_id, is_blind from ferry_internal.readings_between($1, $1) order by run_id`,
    ['2026-11-01 10:01Z'],
  )
  expect(rows).toEqual([
    { since_run: `${first}`, run_id: `${second}`, is_blind: true },
    { since_run: `${second}`, run_id: null, is_blind: true },
  ])
})

test('a time of which nothing is known is explained by the last run in it that failed, of its account and inventory', async () => {
  await using store = await openTestStore()
  const complete = { status: 'succeeded', appliedAt: NOON } as const
  const failed = (errorCode: string) => ({ status: 'failed', appliedAt: null, errorCode }) as const
  const run = (end: Partial<RunEnd>, of = {}) => addRun(store.pool, { ...of, end })
  await run(failed('Before'))
  const first = await run(complete)
  await run(failed('Earlier'))
  await run({ ...complete, status: 'partial', errorCode: 'Last' })
  await run(failed('Skipped'))
  await run(failed('OfServers'), { resource: 'mcp-servers' })
  await run(failed('OfOther'), { account: 'other' })
  const second = await run(complete)
  await run(failed('After'))
  await store.pool.query(`update ferry.sync_runs set status = 'skipped' where error_code = 'Skipped'`)
  await store.pool.query(
    `update ferry.sync_runs set started_at = at, finished_at = at, applied_at = case when applied_at is not null then at end
     from (select id as run, $1::timestamptz + id * interval '5 min' as at from ferry.sync_runs) t where id = run`,
    [NOON],
  )
  const { rows } = await store.pool.query(
    `select account, inventory, run_id, after ->> 'error_code' as why from ferry.around($1, '1 day') where kind = 'blind'
     order by account, inventory, observed_at`,
    [NOON],
  )
  const rules = { account: 'default', inventory: 'alert-rules' }
  expect(rows).toEqual([
    { ...rules, run_id: `${first}`, why: 'Before' },
    { ...rules, run_id: `${second}`, why: 'Last' },
    { ...rules, run_id: null, why: 'After' },
    { account: 'default', inventory: 'mcp-servers', run_id: null, why: 'OfServers' },
    { account: 'other', inventory: 'alert-rules', run_id: null, why: 'OfOther' },
  ])
})
