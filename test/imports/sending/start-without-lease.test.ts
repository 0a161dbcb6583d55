import { pino } from 'pino'
import { expect, test } from 'vitest'
import { acquireLease, LeaseLost } from '#src/db/leases.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { startImport } from '#src/imports/sending/start.ts'
import { expireLeases, takeOverLeases } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { openImportHarness } from '../import-harness.ts'

test.each([
  ['has expired', expireLeases],
  ['has another holder', takeOverLeases],
] as const)('an import is not begun once its lease %s', async (_, lose) => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool)
  const lease = await acquireLease(store.pool, 'its page', 'suspended', pino({ level: 'silent' }))
  if ('heldBy' in lease) throw new Error('held')
  await lose(store.pool)
  await expect(startImport(store.pool, id, lease, new AbortController().signal)).rejects.toThrow(LeaseLost)
  expect(await loadSummary(store.pool, id)).toMatchObject({ status: 'queued' })
  await lease.release()
})

test('the work on an import whose lease is lost ends as if another worker had it', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage()
  const limitWork = Object.assign(
    async <T>(work: () => Promise<T>): Promise<T> => {
      await takeOverLeases(harness.ferry.pool)
      return work()
    },
    { hasRoom: harness.ferry.limitWork.hasRoom },
  )
  expect(await harness.work(id, { ferry: { ...harness.ferry, limitWork } })).toBe('busy')
  expect(await harness.importRow(id)).toMatchObject({ status: 'queued' })
  expect(harness.calls()).toBe(0)
})
