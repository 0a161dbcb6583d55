import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Found, rowsOf } from '#src/db/rows.ts'
import { readCount, streamRows } from '#src/db/stream-rows.ts'
import { openTestStore } from '#test/support/store.ts'

const numbersOf = (page: Found) => rowsOf(z.object({ n: z.number() }), page)

test('each row comes once, in its order, however many pages that takes', async () => {
  await using store = await openTestStore()
  for (const count of [0, 1, 999, 1_000, 1_001, 2_000, 2_001]) {
    const rows = streamRows(store.pool, numbersOf, 'select n from generate_series(1, $1::int) n', [count])
    const numbers = (await Array.fromAsync(rows)).map(({ n }) => n)
    expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n + 1))
  }
})

test('all rows are from one instant, and those written meanwhile are not among them', async () => {
  await using store = await openTestStore()
  const add = (count: number) =>
    store.pool.query(
      `insert into ferry.schedule_pauses (account, schedule) select 'a', gen_random_uuid() from generate_series(1, $1::int)`,
      [count],
    )
  await add(1_500)
  const seen: unknown[] = []
  for await (const row of streamRows(
    store.pool,
    ({ rows }) => rows,
    'select schedule from ferry.schedule_pauses',
    [],
  )) {
    if (seen.push(row) === 1) await add(1_500)
  }
  expect(seen).toHaveLength(1_500)
})

test('whoever stops early, or meets an error, gives the connection back without a transaction', async () => {
  await using store = await openTestStore()
  const states = async () => {
    const { rows } = await store.pool.query(
      `select state from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in%'`,
    )
    return rows
  }
  for await (const row of streamRows(store.pool, numbersOf, 'select n from generate_series(1, 5000) n', [])) {
    expect(row).toEqual({ n: 1 })
    break
  }
  expect(await states()).toEqual([])
  const failing = streamRows(
    store.pool,
    numbersOf,
    'select 1 / (2000 - n) as n from generate_series(1, 5000) n',
    [],
  )
  await expect(Array.fromAsync(failing)).rejects.toThrow('division by zero')
  expect(await states()).toEqual([])
  expect(await readCount(store.pool, 'select 7 as count', [])).toBe(7)
  await expect(readCount(store.pool, 'select where false', [])).rejects.toThrow('the query returned no count')
})
