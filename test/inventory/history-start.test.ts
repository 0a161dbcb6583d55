import { expect, test } from 'vitest'
import { loadFirstRead } from '#src/inventory/history/compare-page.ts'
import {
  expectHistory,
  isAnythingRead,
  listFirstReadings,
  loadHistoryStart,
  loadRunsStart,
} from '#src/inventory/history/history-start.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

test('the moment at which the history starts can be asked for, and none before it', async () => {
  await using store = await openTestStore()
  await store.pool.query(`insert into ferry.history (starts_at) values ('2026-11-01')`)
  const ask = (at: string) => store.pool.query('select ferry_internal.expect_history($1) as known', [at])
  expect((await ask('2026-11-01')).rows).toEqual([{ known: true }])
  await expect(ask('2026-10-31 23:59:59.999999')).rejects.toThrow('The history starts at')
})

test('a moment to the millisecond is the end of it: what began within that millisecond is known', async () => {
  await using store = await openTestStore()
  await store.pool.query(`insert into ferry.history (starts_at) values ('2026-11-01T00:00:00.0005Z')`)
  await expectHistory(store.pool, new Date('2026-11-01T00:00:00.000Z'))
  await expect(expectHistory(store.pool, new Date('2026-10-31T23:59:59.999Z'))).rejects.toMatchObject({
    message: expect.stringContaining('The history starts at'),
  })
})

test('history and runs start when what is older was removed, and have no start before that', async () => {
  await using store = await openTestStore()
  const { pool } = store
  expect([await loadHistoryStart(pool), await loadRunsStart(pool)]).toEqual([null, null])
  const [versions, runs] = [new Date('2026-11-01T00:00:00Z'), new Date('2026-11-05T00:00:00Z')]
  await pool.query('insert into ferry.history (starts_at, runs_start_at) values ($1, $2)', [versions, runs])
  expect([await loadHistoryStart(pool), await loadRunsStart(pool)]).toEqual([versions, runs])
  await pool.query('update ferry.history set runs_start_at = null')
  expect([await loadHistoryStart(pool), await loadRunsStart(pool)]).toEqual([versions, null])
})

/** A run that was applied on a day of January, and the rows that a first reading found in it. */
async function readOn(
  { pool }: TestStore,
  day: number,
  account: string,
  firstRead = 0,
  resource = 'alert-rules',
) {
  const appliedAt = new Date(Date.UTC(2026, 0, day)).toISOString()
  await addRun(pool, { account, resource: resource as 'alert-rules', end: { appliedAt, firstRead } })
}

test('an inventory was read first when its first run was applied; a run that failed before it read nothing', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await addRun(pool, { account: 'a', end: { status: 'failed', appliedAt: null } })
  expect(await isAnythingRead(pool)).toBe(false)
  await readOn(store, 9, 'a', 0, 'mcp-servers')
  expect(await isAnythingRead(pool)).toBe(true)
  for (const day of [3, 4]) await readOn(store, day, 'b')
  for (const day of [1, 2]) await readOn(store, day, 'a')
  await addRun(pool, { account: 'c', end: { status: 'failed', appliedAt: null } })
  const first = (account: string, day: number) => ({ account, at: new Date(Date.UTC(2026, 0, day)) })
  expect(await listFirstReadings(pool, 'alert-rules', null)).toEqual([first('a', 1), first('b', 3)])
  expect(await listFirstReadings(pool, 'alert-rules', 'b')).toEqual([first('b', 3)])
  expect(await listFirstReadings(pool, 'mcp-servers', null)).toEqual([first('a', 9)])
  expect(await listFirstReadings(pool, 'mcp-servers', 'b')).toEqual([])
})

test('what first readings found between two moments is one sum, after the first moment and up to the second', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await readOn(store, 1, 'b', 1)
  await readOn(store, 2, 'b', 20)
  await readOn(store, 2, 'c', 300)
  await readOn(store, 3, 'a', 4_000)
  await readOn(store, 3, 'd', 0)
  await readOn(store, 3, 'd', 50_000, 'mcp-servers')
  await readOn(store, 4, 'a', 600_000)
  const between = (from: number, to: number, account?: string) => {
    const at = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString()
    return loadFirstRead(pool, 'alert-rules', { from: at(from), to: at(to), account })
  }
  expect(await between(1, 3)).toEqual({ rows: 4_320, accounts: ['a', 'b', 'c'] })
  expect(await between(1, 3, 'b')).toEqual({ rows: 20, accounts: ['b'] })
  expect(await between(1, 3, 'd')).toBeNull()
  expect(await between(4, 9)).toBeNull()
  expect(await between(3, 1)).toBeNull()
})
