import { expect, test } from 'vitest'
import { openTestStore } from '#test/support/store.ts'

test('the moment at which the history starts can be asked for, and none before it', async () => {
  await using store = await openTestStore()
  await store.pool.query(`insert into ferry.history (starts_at) values ('2026-11-01')`)
  const ask = (at: string) => store.pool.query('select ferry_internal.expect_history($1) as known', [at])
  expect((await ask('2026-11-01')).rows).toEqual([{ known: true }])
  await expect(ask('2026-10-31 23:59:59.999999')).rejects.toThrow('The history starts at')
})
