import { pino } from 'pino'
import { expect, test } from 'vitest'
import { acquireLease, LeaseLost } from '#src/db/leases.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { startImport } from '#src/imports/sending/start.ts'
import { expireLeases, takeOverLeases } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

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
