import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { loadQuarantined, loadQuarantineReasons } from '#src/inventory/read/quarantine.ts'
import { addRun, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

type Stored = { readonly position: number; readonly until?: bigint }

async function quarantine(store: TestStore, run: bigint, reason: string, stored: Stored) {
  const { position, until = null } = stored
  await store.pool.query(
    `insert into ferry.quarantined_rows (run_id, position, id, reason, raw, fingerprint, until_run)
     values ($1, $2, '7', $3, '{"name": 1}', $4, $5)`,
    [run, position, reason, randomUUID(), until],
  )
}

test('a run has the rows that it stored, and those of earlier runs of its scope that had not ended', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const reasons = async (run: bigint) => (await loadQuarantineReasons(pool, run)).map(one => one.reason)
  const first = await addRun(pool)
  const second = await addRun(pool)
  const third = await addRun(pool)
  const failed = await addRun(pool, { end: { status: 'failed', appliedAt: null } })
  await quarantine(store, first, 'ended before the third', { position: 3, until: third })
  await quarantine(store, first, 'lasts', { position: 2 })
  await quarantine(store, first, 'of the first alone', { position: 1, until: second })
  await quarantine(store, third, 'new', { position: 0 })
  expect(await reasons(first)).toEqual(['of the first alone', 'lasts', 'ended before the third'])
  expect(await reasons(second)).toEqual(['lasts', 'ended before the third'])
  expect(await reasons(third)).toEqual(['new', 'lasts'])
  expect(await reasons(failed)).toEqual([])
  expect(await loadQuarantined(pool, third)).toEqual([
    { position: 0, id: '7', reason: 'new', raw: { name: 1 } },
    { position: 2, id: '7', reason: 'lasts', raw: { name: 1 } },
  ])
})

test('rows of another account, inventory or scope are not of a run, whatever lasts', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const first = await addRun(pool)
  await quarantine(store, first, 'lasts', { position: 1 })
  const others = [
    { account: 'b' },
    { resource: 'mcp-servers' },
    { scope: { ...NEW_RUN.scope, folders: ['5'] } },
    { scope: { ...NEW_RUN.scope, keyHash: 'another' } },
  ] as const
  for (const other of others) expect(await loadQuarantined(pool, await addRun(pool, other))).toEqual([])
  const same = await addRun(pool)
  expect(await loadQuarantined(pool, same)).toMatchObject([{ reason: 'lasts' }])
})
