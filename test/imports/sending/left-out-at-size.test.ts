import { pino } from 'pino'
import { expect, test } from 'vitest'
import { acquireLease } from '#src/db/leases.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { startImport } from '#src/imports/sending/start.ts'
import { putEqualBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { NEVER } from '../import-harness.ts'

test('leaving out two hundred thousand takes a few seconds', async () => {
  await using store = await openTestStore()
  const [first, second] = [
    await stageRows(store.pool, { rows: 200_000 }),
    await stageRows(store.pool, { rows: 200_000 }),
  ]
  await putEqualBatches(store.pool, first, { batches: 400, rows: 500 })
  await putEqualBatches(store.pool, second, { batches: 10, rows: 500, state: 'ready' })
  const lease = await acquireLease(store.pool, 'import:test', 'test', pino({ level: 'silent' }))
  if ('heldBy' in lease) throw new Error('the lease is taken')
  // A loop over all rows for each of them would take longer than this test may.
  await startImport(store.pool, second, lease, NEVER)
  await lease.release()
  expect(await loadSummary(store.pool, second)).toMatchObject({ alreadyImported: 200_000, pending: 0 })
})
