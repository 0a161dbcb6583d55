import { expect, test } from 'vitest'
import { rejectRun } from '#src/inventory/holds/approve.ts'
import { REPEATED, REPEATED_IN_FOLDER } from '#src/inventory/messages.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion } from '#test/support/versions.ts'

test('a rule whose removal is held or rejected is not known to fire, from the first reading without it to the one that has it again', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { ferry, sandbox, query } = harness
  const ids = Array.from({ length: 20 }, (_, n) => BigInt(n + 1))
  const add = (id: bigint) => sandbox.state.addRule({ id, enabled: true, triggered: true })
  for (const id of ids) add(id)
  const gone = ids.slice(1)
  const leave = () => {
    for (const id of gone) sandbox.state.removeRule(id)
  }
  const comeBack = () => {
    for (const id of gone) add(id)
  }
  const sync = async () => (await harness.sync()).run as bigint
  const knownAt = async (at: string) => {
    const shown = await query<{ known: boolean }>(`select known from ferry.firing_at((${at})) order by id`)
    expect(shown).toHaveLength(20)
    return shown.filter(({ known }) => known).length
  }
  const knownAfter = (run: bigint) => knownAt(`select applied_at from ferry.sync_runs where id = ${run}`)

  const all = await sync()
  leave()
  const held = await sync()
  expect([await knownAfter(all), await knownAfter(held), await knownAt('now()')]).toEqual([20, 1, 1])
  comeBack()
  const voided = await sync()
  expect([await knownAfter(held), await knownAfter(voided), await knownAt('now()')]).toEqual([1, 20, 20])
  leave()
  const again = await sync()
  await rejectRun(ferry, again, ADA)
  expect(await knownAt('now()')).toBe(1)
  const kept = await sync()
  expect([await knownAfter(voided), await knownAfter(again), await knownAfter(kept)]).toEqual([20, 1, 1])
  comeBack()
  const returned = await sync()
  expect([await knownAfter(again), await knownAfter(returned), await knownAt('now()')]).toEqual([1, 20, 20])
})

test('a rule whose row was quarantined is not known to fire; one that came twice was read all the same', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { sandbox, query } = harness
  for (const id of [1n, 2n, 3n]) sandbox.state.addRule({ id, enabled: true, triggered: true })
  const { run } = await harness.sync()
  await query(
    `insert into ferry.quarantined_rows (run_id, position, id, reason, fingerprint)
     select $1, n, n::text, reason, gen_random_uuid() from unnest($2::text[]) with ordinality r (reason, n)`,
    [run, [REPEATED, REPEATED_IN_FOLDER, 'name']],
  )
  expect(await query('select id::text, known from ferry.firing_at(now()) order by id')).toEqual([
    { id: '1', known: true },
    { id: '2', known: true },
    { id: '3', known: false },
  ])
  await query('update ferry.quarantined_rows set until_run = $1', [run])
  expect(await query('select id from ferry_internal.unseen_since(array[$1::bigint])', [run])).toEqual([
    { id: '3' },
  ])
})

test('a rule is unseen since its own row was first quarantined, whenever that of another rule was', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const runs = [await addRun(pool), await addRun(pool), await addRun(pool)]
  const [first, second, last] = runs
  const quarantine = (run = first, until = second, position = 0, id = '1') =>
    pool.query(
      `insert into ferry.quarantined_rows (run_id, position, id, reason, fingerprint, until_run)
       values ($1, $2, $3, 'name', gen_random_uuid(), $4)`,
      [run, position, id, until],
    )
  await quarantine()
  // Its row was quarantined again, with another value, as that of another rule was for the first time.
  await quarantine(second, last)
  await quarantine(second, last, 1, '2')
  const { rows } = await pool.query(
    'select id, first_run from ferry_internal.unseen_since(array[$1::bigint]) order by id',
    [last],
  )
  expect(rows).toEqual([
    { id: '1', first_run: `${first}` },
    { id: '2', first_run: `${second}` },
  ])
})

test('a firing counts from the instant at which it began, and no longer at that of its end', async () => {
  await using store = await openTestStore()
  const [began, ended] = ['2026-01-01T03:12:00Z', '2026-01-01T03:20:00Z']
  await insertRuleVersion(store.pool, { id: 1n, name: 'disk', from: '2026-01-01T00:00:00Z' })
  await insertRuleVersion(store.pool, { id: 2n, name: 'load', from: '2026-01-01T00:00:00Z' })
  await insertFiring(store.pool, { id: 1n, from: began, to: ended })
  await insertFiring(store.pool, { id: 2n, from: began })
  const firingAt = async (at: string) => {
    const { rows } = await store.pool.query(
      'select name, fired_for::text as for from ferry.firing_at($1) order by id',
      [at],
    )
    return rows.map(row => `${row.name} ${row.for}`)
  }
  expect(await firingAt('2026-01-01T03:11:59.999999Z')).toEqual([])
  expect(await firingAt(began)).toEqual(['disk 00:00:00', 'load 00:00:00'])
  expect(await firingAt(ended)).toEqual(['load 00:08:00'])
})

test('of a folder that was read neither before a moment nor after it, nobody knows what fired', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, targetMs: 7_200_000, folders: ['5', '6'] }])
  for (const folders of [['5', '6'], ['5'], ['5'], ['5', '6'], ['0']]) {
    const scope = { folders, includeAccount: null, keyHash: 'k' }
    await ageRuns(pool, '1 hour')
    await addRun(pool, { trigger: 'schedule', scope })
  }
  await ageRuns(pool, '5 minutes')
  const from = new Date(Date.now() - 86_400_000)
  for (const folder of [5, 6]) {
    const rule = { id: BigInt(folder), account: 'default', from }
    await insertRuleVersion(pool, { ...rule, folder, name: 'rule' })
    await insertFiring(pool, rule)
  }
  const knownHoursAgo = async (hours: number) => {
    const { rows } = await pool.query(
      `select known from ferry.firing_at(now() - interval '${hours} hours') order by id`,
    )
    return rows.map(({ known }) => known)
  }
  expect(await Promise.all([3.5, 2.5, 1.5, 0.5, 0].map(knownHoursAgo))).toEqual([
    [true, true],
    [true, false],
    [true, true],
    [true, true],
    [true, true],
  ])
})
