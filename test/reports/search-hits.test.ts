import { expect, test } from 'vitest'
import { search } from '#src/reports/search.ts'
import { addRun } from '#test/support/runs.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertServerVersion } from '#test/support/versions.ts'
import { DAY, HOUR, insert, minutesAgo } from './ask.ts'

async function addCall({ pool }: TestStore, requestId: string, started: Date, account = 'a') {
  await pool.query(
    `insert into ferry.platform_limits (limit_key, operation) values ('k', 'list-alert-rules') on conflict do nothing`,
  )
  await pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, request_id)
     values ('k', $1, 'list-alert-rules', $2, $2, $3)`,
    [account, started, requestId],
  )
}

test('an id finds the newest version of each rule and server, the run and the import that have it', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const run = await addRun(pool, { account: 'of the run' })
  const id = `${run}`
  const importId = await stageRows(pool, { file: 'people.csv' })
  expect(`${importId}`).toBe(id)
  for (const account of ['b', 'a']) {
    await insert(store, { account, id, name: 'old', from: DAY, to: HOUR })
    await insert(store, {
      account,
      id,
      name: `new of ${account}`,
      from: HOUR,
      ...(account === 'b' && { to: 5 }),
    })
    const server = { account, id, to: minutesAgo(HOUR) }
    await insertServerVersion(pool, { ...server, name: 'old', from: minutesAgo(DAY) })
    const to = account === 'b' ? minutesAgo(5) : undefined
    await insertServerVersion(pool, { account, id, name: `S of ${account}`, from: minutesAgo(HOUR), to })
  }
  await insert(store, { id: '99', name: 'another', from: DAY })
  const exact = { id, isExact: true }
  const since = { at: minutesAgo(HOUR), ...exact }
  expect(await search(pool, id, 9)).toEqual([
    { kind: 'rule', account: 'a', name: 'new of a', ...since },
    { kind: 'rule', account: 'b', name: 'new of b', ...since },
    { kind: 'server', account: 'a', name: 'S of a', ...since },
    { kind: 'server', account: 'b', name: 'S of b', ...since },
    { kind: 'import', account: 'default', name: 'people.csv', at: expect.any(Date), ...exact },
    { kind: 'run', account: 'of the run', name: 'alert-rules', at: expect.any(Date), ...exact },
  ])
  expect((await search(pool, id, 1)).map(({ kind, account }) => `${kind} ${account}`)).toEqual([
    'rule a',
    'server a',
    'import default',
    'run of the run',
  ])
})

test('a request id finds its calls, the last ones first', async () => {
  await using store = await openTestStore()
  await addCall(store, 'r-1', minutesAgo(30))
  await addCall(store, 'r-1', minutesAgo(10), 'b')
  await addCall(store, 'r-1', minutesAgo(20))
  await addCall(store, 'r-2', minutesAgo(5))
  const hit = { kind: 'call', id: 'r-1', name: 'list-alert-rules', isExact: true }
  const hits = [
    { ...hit, account: 'b', at: minutesAgo(10) },
    { ...hit, account: 'a', at: minutesAgo(20) },
    { ...hit, account: 'a', at: minutesAgo(30) },
  ]
  expect(await search(store.pool, 'r-1', 9)).toEqual(hits)
  expect(await search(store.pool, 'r-1', 2)).toEqual(hits.slice(0, 2))
  expect(await search(store.pool, 'R-1', 9)).toEqual([])
})

test('words find the imports of files with them, in any case, the last ones first', async () => {
  await using store = await openTestStore()
  const ids: bigint[] = []
  for (const file of ['People-1.csv', 'PEOPLE-2.csv', 'other.csv', 'more people.csv'])
    ids.push(await stageRows(store.pool, { file }))
  const hits = [3, 1, 0].map(n => ({
    kind: 'import',
    account: 'default',
    id: `${ids[n]}`,
    name: ['People-1.csv', 'PEOPLE-2.csv', 'other.csv', 'more people.csv'][n],
    at: expect.any(Date),
    isExact: false,
  }))
  expect(await search(store.pool, 'people', 9)).toEqual(hits)
  expect(await search(store.pool, 'PeoplE', 2)).toEqual(hits.slice(0, 2))
  expect(await search(store.pool, '%', 9)).toEqual([])
})

test('a number of more than 63 bits finds rules, and is the id of no run', async () => {
  await using store = await openTestStore()
  const [run, id] = [2n ** 63n, 2n ** 64n - 1n]
  for (const rule of [run, id]) await insert(store, { id: rule, name: `${rule}`, from: DAY })
  for (const rule of [run, id]) {
    expect((await search(store.pool, `${rule}`, 9)).map(({ kind, name }) => [kind, name])).toEqual([
      ['rule', `${rule}`],
    ])
  }
})
