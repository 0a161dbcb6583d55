import { expect, test } from 'vitest'
import { alertRules } from '#src/inventory/alert-rules.ts'
import { findAbsent, knownSetCheck } from '#src/inventory/publish/absence.ts'
import { RowTable } from '#src/inventory/read/row-table.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { rules, scriptedAccount, syncListed, upTo } from './scripted-account.ts'

const SMALL = { rules: 0, servers: 0 }
const account = scriptedAccount('default', () => [])

/** What a worker has after a reading that listed these ids; null for `known` if it has just been started. */
function listedAfter(known: readonly number[] | null, listed: readonly number[]): RowTable {
  const table = new RowTable()
  table.startReading()
  table.startPart()
  if (known) table.commit(known.map(String), [])
  for (const id of listed) table.list(`${id}`)
  return table
}

test('of more rows than are read at a time, exactly those are absent that were not listed', async () => {
  await using harness = await openFerryHarness(SMALL)
  const { pool } = harness.ferry
  const all = upTo(20_003)
  await syncListed(harness, [rules(all)])
  const source = alertRules(account)
  const listed = all.filter(id => id !== 7 && id !== 20_002)
  const absent = { absent: ['7', '20002'], current: 20_003 }
  expect(await findAbsent(pool, source, 'default', listedAfter(null, listed))).toEqual(absent)
  expect(await findAbsent(pool, source, 'default', listedAfter(all, listed))).toEqual(absent)
  expect(await findAbsent(pool, source, 'other', listedAfter(null, []))).toEqual({ absent: [], current: 0 })

  const isKnownSet = knownSetCheck(pool, source, 'default')
  const ids = new Set(all.map(String))
  expect(await isKnownSet(ids)).toBe(true)
  expect(await isKnownSet(new Set([...ids, 'one more']))).toBe(false)
  ids.delete('20002')
  expect(await isKnownSet(new Set([...ids, 'another']))).toBe(false)
})

test.each([
  ['of a worker that has just been started', null],
  ['of a worker that knows more than is current', [1, 2, 3, 4, 99]],
])('rows that went before, or are in another folder, are not absent: %s', async (_whose, known) => {
  await using harness = await openFerryHarness(SMALL)
  const { pool } = harness.ferry
  await syncListed(harness, [[...rules([1, 2, 3, 5]), ...rules([4], { folder: 2n })]])
  await syncListed(harness, [[...rules([1, 2, 3]), ...rules([4], { folder: 2n })]])
  await syncListed(harness, [rules([4])], { account: 'other' })
  const find = (folders: bigint[], listed: number[]) =>
    findAbsent(pool, alertRules(account, folders), 'default', listedAfter(known, listed))
  expect(await find([1n], [1])).toEqual({ absent: ['2', '3'], current: 3 })
  expect(await find([2n], [1, 2])).toEqual({ absent: ['4'], current: 1 })
  expect(await find([0n], [1, 2, 4])).toEqual({ absent: ['3'], current: 4 })
  expect((await find([0n], [1, 2, 3, 4])).absent).toEqual([])
})
