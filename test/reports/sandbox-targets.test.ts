import { expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import { SANDBOX_KEY_SETTING } from '#src/model/settings.ts'
import { listTargetedAccounts, saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { openTestStore } from '#test/support/store.ts'

test('a sandbox that is gone has no freshness target once a worker has an account; one that runs, and other accounts, keep theirs', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const sandbox = { ...FRESHNESS_TARGET, account: 'sandbox', keySetting: SANDBOX_KEY_SETTING }
  const mine = { ...FRESHNESS_TARGET, account: 'mine', keySetting: 'FERRY_APP_KEY' }
  await saveFreshnessTargets(pool, [{ ...mine, account: 'other' }])
  await saveFreshnessTargets(pool, [sandbox])
  await recordWorker(pool, 'of the sandbox', null, ['sandbox'])
  await saveFreshnessTargets(pool, [mine])
  expect((await listTargetedAccounts(pool)).toSorted()).toEqual(['mine', 'other', 'sandbox'])
  await pool.query(`update ferry.workers set seen_at = now() - interval '1 hour'`)
  await saveFreshnessTargets(pool, [mine])
  expect((await listTargetedAccounts(pool)).toSorted()).toEqual(['mine', 'other'])
})
