import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { chooseInstant, isStillFree } from '#src/inventory/history/choose-instant.ts'
import { insertIdleRuns } from '#test/support/many-rows.ts'
import { openTestStore } from '#test/support/store.ts'

test('what was applied last is found without reading all runs, however many there are', async () => {
  await using store = await openTestStore()
  await insertIdleRuns(store.pool, 20_000)
  await store.pool.query('vacuum analyze ferry.sync_runs')
  const account = 'a1'
  const read = await inTransaction(store.pool, async client => {
    await client.query('select ferry.settled_at()')
    const at = await chooseInstant(client, { account }, 20_000n)
    expect(await isStillFree(client, { account, resource: 'alert-rules' }, at)).toBe(true)
    const { rows } = await client.query<{ rows: number }>(
      `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relid = 'ferry.sync_runs'::regclass`,
    )
    return rows[0]?.rows
  })
  expect(read).toBeLessThan(20)
})
