import fc from 'fast-check'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { acquirePermits } from '#src/db/acquire-permits.ts'
import { OwnCall } from '#src/db/known-database.ts'
import { claimBatch, newClaim } from '#src/imports/sending/claims.ts'
import { guardedMs } from '#src/model/limit.ts'
import { holdLease } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

const WINDOWS = [
  { maxCalls: 2, windowMs: 1_000 },
  { maxCalls: 20, windowMs: 60_000 },
]
const MAX_SLEW = 0.01
const BEGAN = Date.UTC(2026, 0, 1)

/**
 * Makes calls as early as the call log allows, with a database clock that gains or loses `rates[n]` after each. Returns when
 * they were made in true time, in milliseconds.
 */
async function callWithClock(pool: Pool, key: string, rates: readonly number[]): Promise<number[]> {
  const made: number[] = []
  let trueMs = 0
  let clockMs = 0
  for (const rate of rates) {
    for (;;) {
      const { rows } = await pool.query<{ ms: number | null }>(
        `select extract(epoch from max(w.free_at) - $4)::float8 * 1000 as ms
         from ferry_internal.full_windows($1, 'import-subscribers', $2, $3, $4) w`,
        [
          key,
          WINDOWS.map(window => window.maxCalls),
          WINDOWS.map(window => guardedMs(window.windowMs)),
          new Date(BEGAN + clockMs),
        ],
      )
      const waitMs = rows[0]?.ms ?? null
      if (waitMs === null || waitMs <= 0) break
      const passedMs = Math.ceil(waitMs)
      clockMs += passedMs
      trueMs += passedMs / (1 + rate)
    }
    made.push(trueMs)
    await pool.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished)
       values ($1, 'a', 'import-subscribers', $2, $2, $2)`,
      [key, new Date(BEGAN + clockMs)],
    )
  }
  return made
}

test('no window has too many calls in true time, however the database clock is slewed within 1 %', async () => {
  await using store = await openTestStore()
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(-MAX_SLEW, 0, MAX_SLEW / 2, MAX_SLEW), { minLength: 25, maxLength: 25 }),
      async rates => {
        run += 1
        const made = await callWithClock(store.pool, `slewed ${run}`, rates)
        for (const { maxCalls, windowMs } of WINDOWS) {
          for (const [n, at] of made.entries()) {
            const earlier = made[n - maxCalls]
            if (earlier !== undefined) expect(at - earlier).toBeGreaterThan(windowMs - 0.001)
          }
        }
      },
    ),
    { numRuns: 3, examples: [[Array(25).fill(MAX_SLEW)]] },
  )
})

test('listings and the batches of imports are both counted for 1 % longer than the platform counts them', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const limit = { limitKey: 'account:default', windows: [{ maxCalls: 1, windowMs: 6_000_000 }] }
  const importId = await stageRows(pool, { rows: 2, batchRows: 1, status: 'running' })
  const lease = await holdLease(pool, 'the lease')
  const account = 'default'
  const claiming = {
    pool,
    importId,
    account,
    lease,
    limit,
    arrivalBoundMs: 100_000,
    claimMs: 600_000,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
  }
  const claim = () => claimBatch(claiming, newClaim())
  const listing = { account, operation: 'list-alert-rules', runId: null } as const
  const list = () => acquirePermits(pool, limit, listing.operation, [listing], claiming)
  expect(await claim()).toMatchObject({ what: 'claimed' })
  expect(await list()).toMatchObject({ wait: null })
  const bounds =
    'select extract(epoch from counted_by - started)::float8 * 1000 as ms from ferry.platform_calls'
  expect((await pool.query(bounds)).rows).toEqual([{ ms: 101_000 }, { ms: 101_000 }])

  await pool.query(
    `update ferry.platform_calls set started = at, finished = at, counted_by = at
     from (select clock_timestamp() - interval '6030 s' as at) t`,
  )
  expect(await claim()).toMatchObject({ what: 'wait' })
  expect(await list()).toMatchObject({ acquired: [], wait: {} })
})
