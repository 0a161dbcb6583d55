import { expect, test } from 'vitest'
import { listHeldRows } from '#src/inventory/holds/list-holds.ts'
import { loadReadableRun } from '#src/inventory/runs/list-runs.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

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
