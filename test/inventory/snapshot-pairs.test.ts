import { expect, test } from 'vitest'
import { findLastPair, findPair, NoSuchSnapshot } from '#src/inventory/history/snapshot-diff.ts'
import { findSnapshot, loadSnapshotPage } from '#src/inventory/history/snapshot-page.ts'
import { SNAPSHOT_LIST } from '#src/inventory/history/snapshots-list.ts'
import { addSnapshot } from '#test/support/snapshots.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

const at = (day: number) => new Date(Date.UTC(2026, 0, day))

const add = ({ pool }: TestStore, account: string, day: number) =>
  addSnapshot(pool, account, at(day).toISOString())

/** Why there is no pair. */
async function refused(pair: Promise<unknown>): Promise<string> {
  const error: unknown = await pair.catch(reason => reason)
  if (!(error instanceof NoSuchSnapshot)) throw new Error(`no refusal: ${JSON.stringify(error)}`)
  return error.message
}

test('two snapshots are compared if they are of one account, in the order in which they were named', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const [a, b, other] = [await add(store, 'a', 1), await add(store, 'a', 2), await add(store, 'b', 3)]
  const pair = await findPair(pool, a, b)
  expect({ ...pair, a: new Date(pair.a), b: new Date(pair.b) }).toEqual({ account: 'a', a: at(1), b: at(2) })
  expect(await findPair(pool, b, a, 'a')).toEqual({ ...pair, a: pair.b, b: pair.a })
  expect(await findPair(pool, a, a)).toEqual({ ...pair, b: pair.a })
  const unknown = 'snapshot 99 does not exist; `ferry snapshots list` shows all snapshots'
  expect(await refused(findPair(pool, a, 99n))).toBe(unknown)
  expect(await refused(findPair(pool, 99n, a))).toBe(unknown)
  expect(await refused(findPair(pool, a, other))).toBe(
    `the snapshots ${a} and ${other} belong to different accounts, so they have nothing in common`,
  )
  expect(await refused(findPair(pool, a, b, 'b'))).toBe(
    `the snapshots ${a} and ${b} belong to account a, not to b`,
  )
})

test('without numbers the last two by their instants are compared, if it is clear of which account', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const none = 'no two snapshots yet; `ferry snapshots list` shows all snapshots'
  expect(await refused(findLastPair(pool, null))).toBe(`there are ${none}`)
  for (const day of [3, 1, 2]) await add(store, 'a', day)
  const last = await findLastPair(pool, null)
  expect({ ...last, a: new Date(last.a), b: new Date(last.b) }).toEqual({ account: 'a', a: at(2), b: at(3) })
  await add(store, 'b', 9)
  expect(await findLastPair(pool, 'a')).toEqual(last)
  expect(await refused(findLastPair(pool, 'b'))).toBe(`account b has ${none}`)
  expect(await refused(findLastPair(pool, null))).toBe(
    'there are snapshots of the accounts a, b; name one with --account, or two snapshots',
  )
})

test('a snapshot is listed with its runs and the one before it by time, of its own account', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const slot = at(2).toISOString()
  const first = await add(store, 'a', 1)
  const ofB = await add(store, 'b', 3)
  const last = await addSnapshot(pool, 'a', at(5).toISOString(), { slot, status: 'held', runs: [31, 32] })
  const between = await add(store, 'a', 4)
  const usual = { slot: null, status: 'succeeded', alertRulesRun: '1', mcpServersRun: '2' }
  const rows = [
    { ...usual, id: `${between}`, account: 'a', takenAt: at(4), previous: `${first}` },
    {
      id: `${last}`,
      account: 'a',
      slot: at(2),
      takenAt: at(5),
      status: 'held',
      alertRulesRun: '31',
      mcpServersRun: '32',
      previous: `${between}`,
    },
    { ...usual, id: `${ofB}`, account: 'b', takenAt: at(3), previous: null },
    { ...usual, id: `${first}`, account: 'a', takenAt: at(1), previous: null },
  ]
  expect(await loadSnapshotPage(pool, {}, null, 9)).toEqual(rows)
  expect(await loadSnapshotPage(pool, {}, null, 2)).toEqual(rows.slice(0, 2))
  expect(await loadSnapshotPage(pool, {}, last, 9)).toEqual(rows.slice(2))
  expect(await loadSnapshotPage(pool, { account: 'b' }, null, 9)).toEqual([rows[2]])
  expect(await loadSnapshotPage(pool, { status: 'held' }, null, 9)).toEqual([rows[1]])
  expect(await findSnapshot(pool, last)).toEqual({ account: 'a', at: '2026-01-05T00:00:00.000000Z' })
  expect(await findSnapshot(pool, 99n)).toBeNull()
  const page = (limit: number) => SNAPSHOT_LIST.load(pool, { filter: {}, after: null, limit })
  expect(await page(2)).toEqual({ rows: rows.slice(0, 2), next: [`${last}`] })
  expect(await page(4)).toEqual({ rows, next: null })
  expect(SNAPSHOT_LIST.json?.((await page(4)).rows[1]!)).toEqual({
    snapshot: `${last}`,
    account: 'a',
    takenAt: at(5),
    status: 'held',
    slot: at(2),
    runs: ['31', '32'],
  })
})
