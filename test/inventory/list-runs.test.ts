import { expect, test } from 'vitest'
import { countHeldFiring, listHeldFolders, listHeldRows } from '#src/inventory/holds/list-holds.ts'
import { loadReadableRun } from '#src/inventory/runs/list-runs.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

const PAST = { from: '2026-01-01', to: '2026-01-02' }
const NOW = { from: '2026-01-02' }

test('held rows are shown once each, as they are now or were last, and without those of another account', async () => {
  await using store = await openTestStore()
  const { pool } = store
  for (const insert of [insertRuleVersion, insertServerVersion]) {
    await insert(pool, { id: '1', name: 'was', ...PAST })
    await insert(pool, { id: '1', name: 'b', ...NOW })
    await insert(pool, { id: '2', name: 'a', ...NOW })
    await insert(pool, { id: '2', name: 'of another', account: 'b', ...NOW })
    await insert(pool, { id: '3', name: 'gone', ...PAST })
    await insert(pool, { id: '4', name: 'not held', ...NOW })
  }
  for (const resource of ['alert-rules', 'mcp-servers'] as const) {
    const rows = await listHeldRows(pool, { account: 'a', resource }, ['1', '2', '3'])
    expect(rows.map(({ id, name }) => `${id} ${name}`)).toEqual(['1 b', '2 a', '3 gone'])
  }
})

test('held rows are shown with what people know them by, and counted while they fire, those of the run and of the account alone', async () => {
  await using store = await openTestStore()
  const { pool } = store
  for (const account of ['a', 'b']) {
    const version = { account, ...NOW }
    await insertRuleVersion(pool, { ...version, id: '1', name: 'one', labels: { team: 'pay' }, by: 'Eve' })
    await insertRuleVersion(pool, { ...version, id: '2', name: 'two', folder: 7, enabled: false })
    await insertRuleVersion(pool, { ...version, id: '3', name: 'three', folder: 7 })
    await insertRuleVersion(pool, { ...version, id: '4', name: 'not held', folder: 7 })
  }
  await insertRuleVersion(pool, { ...PAST, id: '5', name: 'gone', folder: 7 })
  await insertServerVersion(pool, { ...NOW, id: '1', name: 'server', team: 3 })
  await insertFiring(pool, { id: '1', from: '2026-01-03', to: '2026-01-04' })
  await insertFiring(pool, { id: '1', from: '2026-01-05', to: '2026-01-06' })
  for (const id of ['2', '3', '4']) await insertFiring(pool, { id, from: '2026-01-03' })
  await insertFiring(pool, { account: 'b', id: '1', from: '2026-01-03' })
  const [rules, servers] = [
    { account: 'a', resource: 'alert-rules' } as const,
    { account: 'a', resource: 'mcp-servers' } as const,
  ]
  expect(await listHeldRows(pool, rules, ['1', '2', '3'])).toEqual([
    { id: '1', name: 'one', folder: '1', team: 'pay', by: 'Eve', enabled: true, firing: false },
    { id: '2', name: 'two', folder: '7', team: null, by: 'Ada', enabled: false, firing: true },
    { id: '3', name: 'three', folder: '7', team: null, by: 'Ada', enabled: true, firing: true },
  ])
  expect(await listHeldRows(pool, servers, ['1', '2'])).toEqual([
    { id: '1', name: 'server', folder: null, team: null, by: null, enabled: true, firing: false },
  ])
  // Run 8 found 3 gone too, and run 9 nothing more.
  const { rows } = await pool.query(
    `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs)
     values ('a', 'alert-rules', 7, 9, '{1,2,3}', '{7,7,8}'), ('b', 'alert-rules', 7, 9, '{2}', '{7}') returning id::text`,
  )
  const hold = { id: BigInt(rows[0].id), ...rules, rows: 3 }
  expect(await countHeldFiring(pool, { ...hold, run: 7n })).toBe(1)
  expect(await countHeldFiring(pool, { ...hold, run: 8n })).toBe(2)
  expect(await countHeldFiring(pool, { ...hold, ...servers, run: 8n })).toBeNull()
  const folders = (run: bigint, limit: number) => listHeldFolders(pool, { ...hold, run }, limit)
  const [small, large] = [
    { folder: '1', held: 1, current: 1 },
    { folder: '7', held: 2, current: 3 },
  ]
  expect(await folders(7n, 9)).toEqual([small, { ...large, held: 1 }])
  expect(await folders(8n, 9)).toEqual([large, small])
  expect(await folders(8n, 1)).toEqual([large])
  expect(await listHeldFolders(pool, { ...hold, rows: 10_001, run: 8n }, 9)).toEqual([])
  expect(await listHeldFolders(pool, { ...hold, ...servers, run: 8n }, 9)).toEqual([])
})

test('a run is shown with what it found itself, and the first complete run of its inventory after it', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const failed = { end: { status: 'failed', appliedAt: null } } as const
  const run = await addRun(pool, { end: { status: 'partial', quarantined: 1 } })
  const others = [await addRun(pool, { resource: 'mcp-servers' }), await addRun(pool, { account: 'b' })]
  await addRun(pool, failed)
  expect(await loadReadableRun(pool, run)).toMatchObject({ standing: { completeSince: null } })
  const next = await addRun(pool)
  await addRun(pool)
  await pool.query(
    `insert into ferry.quarantined_rows (run_id, position, id, reason, fingerprint)
     values ($1, 0, '7', 'broken', gen_random_uuid())`,
    [run],
  )
  for (const [first, field] of [[run, 'mine'], ...others.map(other => [other, 'of another'])]) {
    await pool.query(
      `insert into ferry.contract_drift (account, resource, field, type, first_run)
       select account, resource, $2, 'string', id from ferry.sync_runs where id = $1`,
      [first, field],
    )
  }
  const shown = await loadReadableRun(pool, run)
  expect(shown).toMatchObject({
    standing: { completeSince: next },
    quarantined: [{ position: 0, id: '7', reason: 'broken' }],
  })
  expect(shown?.drift).toEqual([{ field: 'mine', type: 'string' }])
})
