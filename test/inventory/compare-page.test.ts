import { expect, test } from 'vitest'
import { type DifferenceKey, loadDifferencePage, type Moments } from '#src/inventory/history/compare-page.ts'
import type { Resource } from '#src/model/resource.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

/** From minute 2 to minute 6: rows that were added, changed, removed, changed back, and that came and went. */
async function fill({ pool }: TestStore): Promise<void> {
  for (const account of ['a', 'B']) {
    for (const [n, id] of ['2', '10', '9007199254740993', '18446744073709551615'].entries()) {
      const rule = { account, id, by: 'Ada' }
      if (n === 0) {
        await insertRuleVersion(pool, { ...rule, name: 'old', from: at(1), to: at(3) })
        await insertRuleVersion(pool, { ...rule, name: 'between', from: at(3), to: at(4) })
        await insertRuleVersion(pool, { ...rule, name: 'new', from: at(4), folder: 9, by: 'Joan' })
      }
      if (n === 1) await insertRuleVersion(pool, { ...rule, name: 'added', from: at(6) })
      if (n === 2) await insertRuleVersion(pool, { ...rule, name: 'removed', from: at(1), to: at(6) })
      if (n === 3) {
        await insertRuleVersion(pool, { ...rule, name: 'same', from: at(1), to: at(3) })
        await insertRuleVersion(pool, { ...rule, name: 'other', from: at(3), to: at(4) })
        await insertRuleVersion(pool, { ...rule, name: 'same', from: at(4), to: at(7) })
      }
    }
    await insertRuleVersion(pool, { account, id: '5', name: 'came and went', from: at(3), to: at(5) })
    await insertServerVersion(pool, { account, id: 's1', name: 'old', from: at(1), to: at(4) })
    await insertServerVersion(pool, { account, id: 's1', name: 'new', from: at(4), team: 3 })
    await insertServerVersion(pool, { account, id: 'ß', name: 'added', from: at(5) })
  }
}

/** All pages one after another, of so many rows. */
async function compare(
  { pool }: TestStore,
  resource: Resource,
  moments: Moments,
  rows: number,
  bounds: { maxBetween?: number; maxExamined?: number } = {},
) {
  const found: string[] = []
  let after: DifferenceKey | null = null
  for (let page = 0; page < 200; page++) {
    const { differences, next, counts } = await loadDifferencePage(
      pool,
      resource,
      moments,
      { after, rows },
      bounds,
    )
    expect(differences.length).toBeLessThanOrEqual(rows)
    found.push(
      ...differences.map(one => [one.id, one.account, one.change, one.name, one.folder, one.by].join(' ')),
    )
    if (!next) return { found, counts }
    after = next
  }
  throw new Error('the pages do not end')
}

const MOMENTS = { from: at(2), to: at(6) }
/** The pages of those few that differ, and of all rows one after another. */
const BOUNDS = [{}, { maxBetween: 0 }, { maxBetween: 0, maxExamined: 1 }, { maxBetween: 0, maxExamined: 3 }]

test('pages of any size have what differs at the end, whatever happened between', async () => {
  await using store = await openTestStore()
  await fill(store)
  for (const bounds of BOUNDS) {
    for (const rows of [1, 2, 4, 50]) {
      const rules = await compare(store, 'alert-rules', MOMENTS, rows, bounds)
      expect(rules.found.toSorted()).toEqual([
        '10 B added added 1 Ada',
        '10 a added added 1 Ada',
        '2 B changed new 9 Joan',
        '2 a changed new 9 Joan',
        '9007199254740993 B removed removed 1 ',
        '9007199254740993 a removed removed 1 ',
      ])
      expect(rules.found.map(one => one.split(' ')[0])).toEqual([
        '2',
        '2',
        '10',
        '10',
        '9007199254740993',
        '9007199254740993',
      ])
      const servers = await compare(store, 'mcp-servers', MOMENTS, rows, bounds)
      expect(servers.found.toSorted()).toEqual([
        's1 B changed new 3 ',
        's1 a changed new 3 ',
        'ß B added added  ',
        'ß a added added  ',
      ])
      const isCounted = !('maxBetween' in bounds)
      expect(rules.counts).toEqual(
        isCounted ? { added: 2, changed: 2, removed: 2, 'first reading': 0 } : null,
      )
      expect(servers.counts).toEqual(
        isCounted ? { added: 2, changed: 2, removed: 0, 'first reading': 0 } : null,
      )
    }
  }
})

test('backwards, and narrowed to an account or a kind of difference', async () => {
  await using store = await openTestStore()
  await fill(store)
  for (const bounds of BOUNDS) {
    const back = await compare(store, 'alert-rules', { from: at(6), to: at(2), account: 'a' }, 2, bounds)
    expect(back.found).toEqual([
      '2 a changed old 1 Ada',
      '10 a removed added 1 ',
      '9007199254740993 a added removed 1 Ada',
    ])
    expect(back.counts === null).toBe('maxBetween' in bounds)
    const removed = await compare(
      store,
      'alert-rules',
      { ...MOMENTS, kind: 'removed', account: 'B' },
      1,
      bounds,
    )
    expect(removed.found).toEqual(['9007199254740993 B removed removed 1 '])
    expect(await compare(store, 'mcp-servers', { from: at(2), to: at(2) }, 5, bounds)).toMatchObject({
      found: [],
    })
  }
})

test('what a first reading found is in no page but its own, and names nobody, also if it is walked to', async () => {
  await using store = await openTestStore()
  await fill(store)
  const read = { account: 'a', from: at(5), appeared: 'first reading' } as const
  for (const id of ['1', '3', '4', '20'])
    await insertRuleVersion(store.pool, { ...read, id, name: 'read', by: 'Ada' })
  await insertServerVersion(store.pool, { ...read, id: 's2', name: 'read' })
  // Two that were there before: one came between the moments, one was there at the first.
  await insertRuleVersion(store.pool, { ...read, id: '5', name: 'read again', by: 'Ada' })
  await insertRuleVersion(store.pool, { account: 'a', id: '6', name: 'there', from: at(1), to: at(3) })
  await insertRuleVersion(store.pool, { ...read, id: '6', name: 'there again', by: 'Ada' })
  // One that was read after both moments.
  const later = { account: 'c', id: '7' }
  await insertRuleVersion(store.pool, { ...later, name: 'there', from: at(1), to: at(3) })
  await insertRuleVersion(store.pool, { ...later, name: 'read', from: at(7), appeared: 'first reading' })
  for (const bounds of BOUNDS) {
    const one = { ...MOMENTS, account: 'a' }
    const all = await compare(store, 'alert-rules', one, 2, bounds)
    expect(all.found).toEqual([
      '2 a changed new 9 Joan',
      '5 a added read again 1 ',
      '6 a changed there again 1 ',
      '10 a added added 1 Ada',
      '9007199254740993 a removed removed 1 ',
    ])
    const first = await compare(store, 'alert-rules', { ...one, kind: 'first reading' }, 2, bounds)
    expect(first.found).toEqual(['1', '3', '4', '20'].map(id => `${id} a first reading read 1 `))
    if (!('maxBetween' in bounds)) expect(first.counts).toMatchObject({ added: 2, 'first reading': 4 })
    const added = await compare(store, 'mcp-servers', { ...one, kind: 'added' }, 2, bounds)
    expect(added.found).toEqual(['ß a added added  '])
    // Backwards, nobody read anything.
    const back = await compare(
      store,
      'alert-rules',
      { from: at(6), to: at(2), kind: 'first reading' },
      2,
      bounds,
    )
    expect(back.found).toEqual([])
  }
})

test('a change has the fields that differ, exact', async () => {
  await using store = await openTestStore()
  await fill(store)
  const { differences } = await loadDifferencePage(store.pool, 'alert-rules', MOMENTS, {
    after: null,
    rows: 50,
  })
  expect(differences[0]).toMatchObject({
    before: '{"name": "old", "folder_id": 1, "updater_id": 3, "updater_name": "Ada"}',
    after: '{"name": "new", "folder_id": 9, "updater_id": 4, "updater_name": "Joan"}',
  })
  expect(differences.slice(2).every(one => one.before === null && one.after === null)).toBe(true)
})

test('differences are counted up to a bound, and a page that is just full is the last one', async () => {
  await using store = await openTestStore()
  for (let id = 1; id <= 6; id++)
    await insertRuleVersion(store.pool, { id: `${id}`, name: 'added', from: at(4) })
  const page = (rows: number, maxBetween: number) =>
    loadDifferencePage(store.pool, 'alert-rules', MOMENTS, { after: null, rows }, { maxBetween })
  expect(await page(6, 6)).toMatchObject({ counts: { added: 6 }, next: null })
  expect(await page(5, 6)).toMatchObject({ counts: { added: 6 }, next: { id: '5' } })
  expect(await page(6, 5)).toMatchObject({ counts: null, next: null })
  expect(await page(5, 5)).toMatchObject({ counts: null, next: { id: '5' } })
  // What began or ended at other times is not between.
  for (const [id, from, to] of [
    ['7', 0, 1],
    ['8', 7, 8],
  ] as const)
    await insertRuleVersion(store.pool, { id, name: 'at another time', from: at(from), to: at(to) })
  expect(await page(6, 6)).toMatchObject({ counts: { added: 6 }, next: null })
  // What ended counts as what began does.
  for (let id = 11; id <= 16; id++)
    await insertRuleVersion(store.pool, { id: `${id}`, name: 'removed', from: at(1), to: at(6) })
  expect(await page(12, 6)).toMatchObject({ counts: { added: 6, removed: 6 }, next: null })
  await insertRuleVersion(store.pool, { id: '17', name: 'removed', from: at(1), to: at(6) })
  expect(await page(13, 6)).toMatchObject({ counts: null, next: null })
})
