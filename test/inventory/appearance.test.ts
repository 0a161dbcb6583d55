import { describe, expect, test } from 'vitest'
import type { ChangeFilter, ChangeRow } from '#src/inventory/history/change-row.ts'
import {
  type ChangePageFilter,
  countChanges,
  listChanges,
  loadChangePage,
} from '#src/inventory/history/changes.ts'
import { appearanceOf } from '#src/inventory/publish/appearance.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { type Listed, restarted, rules, syncListed } from './scripted-account.ts'

const SMALL = { rules: 0, servers: 0 }
const MINUTE_MS = 60_000

const seconds = (ms: number) => BigInt(Math.floor(ms / 1_000))
const NOW_S = seconds(Date.now())
const OLD_S = seconds(Date.UTC(2024, 0, 1))

const eventOf = ({ account, id, change, by, rows }: ChangeRow) => [account, id, change, by, rows].join(' ')

/** The events as the command line has them, and the same from pages of any size. */
async function events(
  harness: FerryHarness,
  filter: ChangeFilter & ChangePageFilter = {},
): Promise<string[]> {
  const { pool } = harness.ferry
  const listed = (await Array.fromAsync(listChanges(pool, filter, null))).map(eventOf)
  expect(await countChanges(pool, filter, 100)).toBe(listed.length)
  for (const size of [1, 2, 50])
    expect((await pages(harness, filter, size)).toSorted()).toEqual(listed.toSorted())
  return listed.toSorted()
}

async function pages(harness: FerryHarness, filter: ChangePageFilter, rows: number): Promise<string[]> {
  const found: string[] = []
  let after: Parameters<typeof loadChangePage>[2] = null
  do {
    const page = await loadChangePage(harness.ferry.pool, filter, after, rows)
    found.push(...page.changes.map(eventOf))
    after = page.next
  } while (after)
  return found
}

const appeared = async (harness: FerryHarness) => {
  const rows = await harness.query<{ id: string; appeared: string | null }>(
    'select id::text, appeared from ferry.alert_rule_versions where valid_to is null order by account, id',
  )
  return rows.map(row => `${row.id} ${row.appeared}`)
}

describe('what a row without a version before it is taken for', () => {
  const nowMs = Date.UTC(2026, 10, 23)
  const table = { folderOf: (row: Row) => row.folder ?? null, createdAtOf: (row: Row) => row.createdAt }
  type Row = { readonly createdAt: bigint | number | null; readonly folder?: string }
  const listed = (folders: Readonly<Record<string, number>>) => ({
    nowMs,
    lastAtMs: new Map(Object.entries(folders).map(([folder, ago]) => [folder, nowMs - ago * MINUTE_MS])),
  })

  test.each([
    ['seconds', 1 / 1_000],
    ['milliseconds', 1],
    ['microseconds', 1_000],
    ['nanoseconds', 1_000_000],
  ])('it was added if its %s say that it was created since the last listing, or so', (_, perMs) => {
    const at = (agoMinutes: number) => {
      const createdAt = BigInt(nowMs - agoMinutes * MINUTE_MS) * BigInt(Math.max(perMs, 1))
      return appearanceOf(table, { createdAt: perMs < 1 ? createdAt / 1_000n : createdAt }, listed({ 0: 60 }))
    }
    expect([-4, 0, 59, 64].map(at)).toEqual([null, null, null, null])
    expect([-6, 66, 600_000].map(at)).toEqual(['unexplained', 'unexplained', 'unexplained'])
  })

  test('what says nothing is unexplained, and what was never listed completely a first reading', () => {
    const since = listed({ 0: 1 })
    for (const createdAt of [null, 0, -5n, 17, 2n ** 63n]) {
      expect(appearanceOf(table, { createdAt }, since)).toBe('unexplained')
    }
    expect(appearanceOf(table, { createdAt: nowMs }, listed({}))).toBe('first reading')
    expect(appearanceOf(table, { createdAt: nowMs, folder: '7' }, listed({ 5: 1 }))).toBe('first reading')
    expect(appearanceOf(table, { createdAt: nowMs, folder: '5' }, listed({ 5: 1 }))).toBe(null)
    // The later of both listings decides.
    const created = { createdAt: nowMs - 30 * MINUTE_MS, folder: '5' }
    expect(appearanceOf(table, created, listed({ 0: 60, 5: 10 }))).toBe('unexplained')
    expect(appearanceOf(table, created, listed({ 0: 60, 6: 10 }))).toBe(null)
  })
})

describe('a first reading', () => {
  test('is one event, of nobody; what is created later is added by its editor, what only appears by nobody', async () => {
    await using harness = await openFerryHarness(SMALL)
    const first = rules([1, 2, 3], { createdAtS: OLD_S })
    await syncListed(harness, [first])
    expect(await events(harness)).toEqual(['default  first reading  3'])
    const all: Listed[] = [
      ...first,
      ...rules([4], { createdAtS: NOW_S }),
      ...rules([5], { createdAtS: OLD_S }),
    ]
    await syncListed(restarted(harness), [all])
    expect(await appeared(harness)).toEqual([
      '1 first reading',
      '2 first reading',
      '3 first reading',
      '4 null',
      '5 unexplained',
    ])
    const two = ['default 4 added Ada ', 'default 5 added  ']
    expect(await events(harness)).toEqual(['default  first reading  3', ...two])
    expect(await pages(harness, { kind: 'added' }, 1)).toEqual(two)
    expect(await pages(harness, { kind: 'first reading' }, 1)).toEqual(['default  first reading  3'])
    expect(await pages(harness, { folder: 1n }, 1)).toHaveLength(3)
    expect(await pages(harness, { folder: 2n }, 1)).toEqual([])
    expect(await events(harness, { by: 'Ada' })).toEqual(['default 4 added Ada '])
    expect(await events(harness, { account: 'another' })).toEqual([])
    // The page of one rule has its own.
    expect(await events(harness, { rule: 1n })).toEqual(['default 1 first reading  '])
    expect(await pages(harness, { rule: 1n, kind: 'added' }, 1)).toEqual([])
    expect(await pages(harness, { rule: 1n, kind: 'first reading' }, 1)).toHaveLength(1)
    const rows = await harness.query(
      `select id::int, change, updater_name, first_reading from ferry.alert_rule_changes where id in (1, 4, 5) order by id`,
    )
    expect(rows).toEqual([
      { id: 1, change: 'added', updater_name: null, first_reading: true },
      { id: 4, change: 'added', updater_name: 'Ada', first_reading: false },
      { id: 5, change: 'added', updater_name: null, first_reading: false },
    ])
  })

  test('of two accounts at one instant are two events, whatever ids they share', async () => {
    await using harness = await openFerryHarness(SMALL)
    for (const account of ['a', 'b']) await syncListed(harness, [rules([1, 2])], { account })
    await harness.query(`update ferry.sync_runs set applied_at = '2026-01-01'`)
    await harness.query(`update ferry.alert_rule_versions set valid_from = '2026-01-01'`)
    expect(await events(harness)).toEqual(['a  first reading  2', 'b  first reading  2'])
    expect(await events(harness, { account: 'b' })).toEqual(['b  first reading  2'])
  })

  test('is also that of a folder that is asked for later, and that with another key', async () => {
    await using harness = await openFerryHarness(SMALL)
    const inTwo = rules([8], { folder: 2n, createdAtS: OLD_S })
    const sync = (listing: Listed[], folders: bigint[], keyHash?: string) =>
      syncListed(restarted(harness), [listing], { folders, ...(keyHash && { keyHash }) })
    const old = rules([1], { createdAtS: OLD_S })
    const made = (ids: number[], folder = 1n) => rules(ids, { folder, createdAtS: NOW_S })
    await sync([...old, ...inTwo], [1n])
    await sync([...old, ...made([2]), ...inTwo], [1n, 2n])
    expect(await appeared(harness)).toEqual(['1 first reading', '2 null', '8 first reading'])
    // All folders: of those two it is not the first.
    const all = [...old, ...made([2, 3]), ...inTwo, ...made([9], 3n)]
    await sync(all, [0n])
    expect(await appeared(harness)).toEqual([
      '1 first reading',
      '2 null',
      '3 null',
      '8 first reading',
      '9 first reading',
    ])
    await sync([...all, ...made([5])], [0n], 'another key')
    expect((await appeared(harness))[3]).toBe('5 first reading')
    const runs = await harness.query<{ first_read: number }>(
      'select first_read from ferry.sync_runs order by id',
    )
    expect(runs.map(row => row.first_read)).toEqual([1, 1, 1, 1])
  })
})

test.each(['["1"]', '["1", "2"]'])(
  'a folder that two lists of folders had was listed last with the later of them, though %s was long ago',
  async longAgo => {
    await using harness = await openFerryHarness(SMALL)
    const known = rules([1], { createdAtS: OLD_S })
    for (const folders of [[1n], [1n, 2n]]) await syncListed(restarted(harness), [known], { folders })
    await harness.query(
      `update ferry.sync_runs set started_at = started_at - interval '3 hours' where scope -> 'folders' = $1::jsonb`,
      [longAgo],
    )
    const betweenBoth = rules([2], { createdAtS: NOW_S - 7_200n })
    await syncListed(restarted(harness), [[...known, ...betweenBoth]], { folders: [1n] })
    expect(await appeared(harness)).toEqual(['1 first reading', '2 unexplained'])
  },
)
