import { expect, test } from 'vitest'
import type { ChangeRow } from '#src/inventory/history/change-row.ts'
import {
  type ChangeKey,
  type ChangePageFilter,
  countChanges,
  listChanges,
  loadChangePage,
} from '#src/inventory/history/changes.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

/** Histories in which many events share few instants, of ids that sort otherwise as text, in two accounts. */
async function fill(store: TestStore): Promise<void> {
  for (const account of ['a', 'B']) {
    for (const id of ['2', '10', '9007199254740993', '18446744073709551615']) {
      const rule = { account, id, name: `rule ${id}` }
      await insertRuleVersion(store.pool, { ...rule, from: at(1), to: at(2), folder: 1, by: 'Ada' })
      await insertRuleVersion(store.pool, { ...rule, from: at(2), to: at(3), folder: 2, by: 'Joan' })
      if (id === '10') continue
      const last = { ...rule, from: at(id === '2' ? 5 : 3), folder: 1, by: 'Ada', enabled: false }
      await insertRuleVersion(store.pool, last)
    }
    for (const id of ['s2', 'S10', 'ß']) {
      await insertServerVersion(store.pool, { account, id, name: `${id} 1`, from: at(1), to: at(2) })
      await insertServerVersion(store.pool, { account, id, name: `${id} 2`, from: at(2), to: at(3) })
      if (id === 's2') await insertServerVersion(store.pool, { account, id, name: 'x', from: at(4) })
    }
  }
}

const nameOf = ({ resource, account, id, change, at: when }: ChangeRow) =>
  [resource, account, id, change, when.getUTCMinutes()].join(' ')

/** All pages one after another, of so many rows each, after examining so many versions of each list. */
async function pages(store: TestStore, filter: ChangePageFilter, rows: number, maxExamined?: number) {
  const found: ChangeRow[] = []
  let after: ChangeKey | null = null
  let cut = 0
  for (let page = 0; page < 500; page++) {
    const { changes, next, examinedTo } = await loadChangePage(store.pool, filter, after, rows, maxExamined)
    expect(changes.length).toBeLessThanOrEqual(rows)
    found.push(...changes)
    if (examinedTo) cut += 1
    if (next === null) return { found, cut }
    after = next
  }
  throw new Error('the pages do not end')
}

test('pages of any size have every event of the history once, the newest first', async () => {
  await using store = await openTestStore()
  await fill(store)
  const all = await Array.fromAsync(listChanges(store.pool, {}, null))
  const { found: inOne } = await pages(store, {}, 1_000)
  expect(inOne.map(nameOf).toSorted()).toEqual(all.map(nameOf).toSorted())
  expect(inOne.map(one => one.at)).toEqual(inOne.map(one => one.at).toSorted((a, b) => +b - +a))
  expect(inOne[0]).toMatchObject({ id: '2', change: 'returned', at: new Date(at(5)), by: 'Ada' })
  expect((await loadChangePage(store.pool, {}, null, all.length)).next).toBeNull()
  expect((await loadChangePage(store.pool, {}, null, all.length - 1)).next).not.toBeNull()
  for (const rows of [1, 2, 3, 7, all.length - 1, all.length]) {
    const { found, cut } = await pages(store, {}, rows)
    expect(found).toEqual(inOne)
    expect(cut).toBe(0)
  }
})

test('every filter leaves what it names, however few versions a page may examine', async () => {
  await using store = await openTestStore()
  await fill(store)
  const { found: all } = await pages(store, {}, 1_000)
  const filters: [ChangePageFilter, (row: ChangeRow) => boolean][] = [
    [{ account: 'B' }, row => row.account === 'B'],
    [{ resource: 'alert-rules' }, row => row.resource === 'alert-rules'],
    [{ resource: 'mcp-servers' }, row => row.resource === 'mcp-servers'],
    [{ kind: 'added' }, row => row.change === 'added'],
    [{ kind: 'changed' }, row => row.change === 'changed'],
    [{ kind: 'removed' }, row => row.change === 'removed'],
    [{ kind: 'returned', account: 'a' }, row => row.change === 'returned' && row.account === 'a'],
    [{ by: 'Joan' }, row => row.by === 'Joan'],
    [{ kind: 'removed', by: 'Joan' }, () => false],
    [{ resource: 'mcp-servers', folder: 1n }, () => false],
    [{ rule: 10n }, row => row.id === '10'],
    [{ server: 'ß' }, row => row.id === 'ß'],
    [{ since: new Date(at(2)), until: new Date(at(3)) }, row => [2, 3].includes(row.at.getUTCMinutes())],
  ]
  for (const [filter, matches] of filters) {
    const wanted = all.filter(matches).map(nameOf)
    for (const maxExamined of [1, 3, 1_000]) {
      const { found } = await pages(store, filter, 3, maxExamined)
      expect(found.map(nameOf)).toEqual(wanted)
    }
  }
  const inFolder2 = await pages(store, { folder: 2n }, 3, 2)
  const of = (id: string) =>
    inFolder2.found.filter(row => row.id === id && row.account === 'a').map(row => row.change)
  expect([of('2'), of('10'), of('9007199254740993')]).toEqual([
    ['removed', 'changed'],
    ['removed', 'changed'],
    ['changed'],
  ])
})

test('a page that examined all it may says how far it came', async () => {
  await using store = await openTestStore()
  await fill(store)
  const page = await loadChangePage(store.pool, { kind: 'added', resource: 'alert-rules' }, null, 50, 3)
  expect(page).toMatchObject({ changes: [], examinedTo: new Date(at(3)) })
  const all = await loadChangePage(store.pool, { kind: 'added', resource: 'alert-rules' }, null, 50)
  expect(all).toMatchObject({ next: null, examinedTo: null })
  expect(all.changes).toHaveLength(8)
})

test('what was before the history starts is left out, whatever is asked for', async () => {
  await using store = await openTestStore()
  await fill(store)
  await store.pool.query('insert into ferry.history (starts_at) values ($1)', [at(3)])
  const { found } = await pages(store, {}, 3)
  const all = await Array.fromAsync(listChanges(store.pool, {}, null))
  expect(found.map(nameOf).toSorted()).toEqual(all.map(nameOf).toSorted())
  expect(Math.min(...found.map(one => one.at.getUTCMinutes()))).toBe(3)
  const byJoan = await pages(store, { by: 'Joan' }, 3, 2)
  expect(byJoan.found).toEqual([])
})

test('a page that holds exactly all there is, is the last one', async () => {
  await using store = await openTestStore()
  await fill(store)
  const { changes: all } = await loadChangePage(store.pool, {}, null, 1_000)
  const full = await loadChangePage(store.pool, {}, null, all.length)
  expect(full).toEqual({ changes: all, next: null, examinedTo: null })
  const oneLess = await loadChangePage(store.pool, {}, null, all.length - 1)
  expect(oneLess).toEqual({ changes: all.slice(0, -1), next: all.at(-2)?.key, examinedTo: null })
  expect(await loadChangePage(store.pool, {}, oneLess.next, 1)).toEqual({
    changes: all.slice(-1),
    next: null,
    examinedTo: null,
  })
  expect(await loadChangePage(store.pool, {}, all.at(-1)?.key ?? null, 5)).toMatchObject({
    changes: [],
    next: null,
  })
})

test('an event of one account is told from what the same id did in another one at that instant', async () => {
  await using store = await openTestStore()
  const one = async (account: string, from: number, to?: number) => {
    const span = { from: at(from), ...(to !== undefined && { to: at(to) }) }
    await insertRuleVersion(store.pool, { account, id: '7', name: `${account} ${from}`, ...span })
    await insertServerVersion(store.pool, { account, id: '7', name: `${account} ${from}`, ...span })
  }
  // Where one account's version ends, another one's begins.
  await one('a', 1, 2)
  await one('b', 2, 3)
  await one('c', 3, 4)
  await one('c', 4, 5)
  await one('a', 5)
  const of = async (filter: ChangePageFilter) =>
    (await pages(store, filter, 2)).found.map(row => `${row.account} ${row.change} ${row.at.getUTCMinutes()}`)
  for (const resource of ['alert-rules', 'mcp-servers'] as const) {
    const narrowed = resource === 'alert-rules' ? { rule: 7n } : { server: '7' }
    for (const filter of [{ resource }, narrowed]) {
      expect(await of({ ...filter, kind: 'removed' })).toEqual(['c removed 5', 'b removed 3', 'a removed 2'])
      expect(await of({ ...filter, kind: 'added' })).toEqual(['c added 3', 'b added 2', 'a added 1'])
      expect(await of({ ...filter, kind: 'changed' })).toEqual(['c changed 4'])
      expect(await of({ ...filter, kind: 'returned' })).toEqual(['a returned 5'])
      expect(await of({ ...filter, account: 'b' })).toEqual(['b removed 3', 'b added 2'])
      expect(await of(filter)).toHaveLength(8)
    }
  }
})

test('the whole list has what the pages have, whatever is asked for and however many are wanted', async () => {
  await using store = await openTestStore()
  await fill(store)
  const filters: ChangePageFilter[] = [
    {},
    { account: 'B' },
    { by: 'Joan' },
    { rule: 2n },
    { server: 's2' },
    { since: new Date(at(2)), until: new Date(at(3)) },
    { server: 's2', by: 'Ada' },
    { server: 's2', rule: 2n },
  ]
  for (const filter of filters) {
    const { found } = await pages(store, filter, 1_000)
    const listed = async (limit: number | null) => Array.fromAsync(listChanges(store.pool, filter, limit))
    expect((await listed(null)).map(nameOf).toSorted()).toEqual(found.map(nameOf).toSorted())
    for (const limit of [1, 5, found.length]) {
      const first = found.slice(0, limit).map(nameOf)
      expect((await listed(limit)).map(nameOf).toSorted()).toEqual(first.toSorted())
      expect(await countChanges(store.pool, filter, limit)).toBe(first.length)
    }
  }
})

test('a first reading is a change of the folders whose rules it found, and of no others', async () => {
  await using store = await openTestStore()
  const readings = [
    { account: 'a', folder: 1, minute: 1 },
    { account: 'a', folder: 2, minute: 2 },
    { account: 'B', folder: 3, minute: 2 },
  ]
  for (const { account, folder, minute } of readings) {
    await addRun(store.pool, { account, end: { appliedAt: at(minute), firstRead: 1 } })
    const rule = { account, id: `${folder}0`, name: `of ${folder}`, folder }
    await insertRuleVersion(store.pool, { ...rule, from: at(minute), appeared: 'first reading' })
  }
  await insertRuleVersion(store.pool, { account: 'a', id: '11', name: 'added', folder: 1, from: at(2) })
  const changesOf = async (folder: bigint) => {
    const { found } = await pages(store, { folder }, 10)
    return found.map(({ account, change, at: when }) => [account, change, when.getUTCMinutes()].join(' '))
  }
  expect(await changesOf(1n)).toEqual(['a added 2', 'a first reading 1'])
  expect(await changesOf(2n)).toEqual(['a first reading 2'])
  expect(await changesOf(3n)).toEqual(['B first reading 2'])
})
