import { expect, test } from 'vitest'
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
