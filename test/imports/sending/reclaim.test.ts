import { expect, test } from 'vitest'
import { listCallLog } from '#src/db/list-calls.ts'
import { inTransaction } from '#src/db/pool.ts'
import { reclaimExpired } from '#src/imports/sending/reclaim.ts'
import { ageImport } from '#test/support/age-import.ts'
import { openImportHarness } from '../import-harness.ts'
import { claimerOf } from './claimer.ts'

const LIMIT = { limitKey: 'account:a', accounts: ['a'], windows: [{ maxCalls: 9, windowMs: 1_000 }] }

test('an import that another transaction has keeps no other from being reclaimed, and is reclaimed later', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const claimers = [await claimerOf(harness, 'a', LIMIT), await claimerOf(harness, 'b', LIMIT)]
  for (const { claim, importId } of claimers) {
    expect(await claim()).toBe('claimed')
    await ageImport(pool, importId, '1 hour')
  }
  await inTransaction(pool, async client => {
    await client.query('select from ferry.imports where id = $1 for update', [claimers[0]?.importId])
    expect(await reclaimExpired(pool)).toBe(1)
  })
  expect(await reclaimExpired(pool)).toBe(1)
})

test('the call of a lost worker is found among those without an answer, unless its answer came', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const { claim, importId } = await claimerOf(harness, 'a', LIMIT)
  const unanswered = async () => (await listCallLog(pool, 9, { refused: true })).calls
  expect(await claim()).toBe('claimed')
  await ageImport(pool, importId, '1 hour')
  expect(await unanswered()).toEqual([])
  await reclaimExpired(pool)
  expect(await unanswered()).toMatchObject([{ errorCode: 'WorkerLost', finished: null, batch: '1' }])
  await pool.query("update ferry.import_batches set state = 'ready'")
  expect(await claim()).toBe('claimed')
  await ageImport(pool, importId, '1 hour')
  await pool.query(
    'update ferry.platform_calls set finished = now(), http_status = 200 where error_code is null',
  )
  await reclaimExpired(pool)
  expect(await unanswered()).toHaveLength(1)
})
