import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readMigrations } from '#src/db/run-migrations.ts'
import { holdLease } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

/* A worker of the last release may wait in a function of the database while that is migrated, and calls it again after it. */

const RELEASES: Record<string, number> = JSON.parse(readFileSync('drizzle/releases.json', 'utf8'))

test('no migration since the last release takes away a function that its workers call', async () => {
  const releasedAt = Object.values(RELEASES).at(-1) ?? 0
  const since = (await readMigrations()).filter(({ when }) => when > releasedAt)
  expect(
    since.flatMap(({ sql }) => sql).filter(text => /drop function (if exists )?ferry_internal/i.test(text)),
  ).toEqual([])
})

test('a worker of 0.2.0 gets batches with permits, and waits for others, by the functions that it knows', async () => {
  await using store = await openTestStore()
  const importId = await stageRows(store.pool, { rows: 5, batchRows: 2, status: 'running' })
  const { name, token } = await holdLease(store.pool, 'test:last-release')
  const claim = async (mostCalls: number) => {
    const { rows } = await store.pool.query(
      `select * from ferry_internal.claim_batch(p_import => $1, p_lease => $2, p_token => $3, p_claim => $4, p_again => false,
         p_limit_key => 'account:test', p_max_calls => array[$5::int], p_window_ms => '{60000}', p_arrival_bound_ms => 5000,
         p_claim_ms => 60000, p_max_bytes => 1000000, p_row_overhead_bytes => 64, p_largest_first_after => 9,
         p_turn_lapses_ms => 2000, p_note_waiting_every_ms => 500, p_own_call => null, p_own_request_id => null,
         p_own_age_ms => null)`,
      [importId, name, token, randomUUID(), mostCalls],
    )
    return rows[0]
  }
  const batch = await claim(2)
  const { rows: calls } = await store.pool.query(
    `select * from ferry_internal.acquire_permit('account:test', 'import-subscribers', 'test', null, '{2}', '{60000}', 5000,
       null, null, null)`,
  )
  const recorded = await store.pool.query('select id, batch_id from ferry.platform_calls order by id')
  expect(recorded.rows).toEqual([
    { id: batch.call_id, batch_id: batch.batch_id },
    { id: calls[0].call_id, batch_id: null },
  ])
  expect(batch).toMatchObject({ what: 'claimed', status: null, poll_soon: false })
  expect(calls[0]).toMatchObject({ poll_soon: false, is_unknown: false })

  const late = await claim(2)
  expect(late).toMatchObject({ what: 'wait', batch_id: null, call_id: null })
  expect(late.wait_ms).toBeGreaterThan(0)
})
