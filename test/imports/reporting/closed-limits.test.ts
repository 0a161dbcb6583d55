import { expect, test } from 'vitest'
import { loadLimitState } from '#src/db/limits.ts'
import { whyWaiting } from '#src/imports/reporting/pace.ts'
import { ACCEPTED, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

const LIMIT = { limitKey: 'account:default', windows: [{ maxCalls: 20, windowMs: 60_000 }] }
const PACE = {
  behind: null,
  hasWorker: true,
  isAccountServed: true,
  queuedForMs: 0,
  backOffMs: 0,
  backOffCode: null,
  inFlight: 0,
}

test('while limits are closed since the database changed, no 429 is spoken of, unless there is one', async () => {
  await using store = await openTestStore()
  await sendBatches(store.pool, await stageRows(store.pool), [ACCEPTED])
  const why = async (blockedBy: number | null) => {
    await store.pool.query(
      `update ferry.platform_limits set blocked_until = now() + interval '1 minute', blocked_by = $1`,
      [blockedBy],
    )
    return whyWaiting(PACE as never, await loadLimitState(store.pool, LIMIT, 'import-subscribers'))
  }
  expect(await why(null)).toMatch(/^After a change of the database, no import is sent until /)
  expect(await why(1)).toMatch(/^After a 429, /)
})
