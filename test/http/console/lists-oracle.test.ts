import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PAGES } from '#src/http/console/pages.ts'
import type { ConsoleHarness } from './console-harness.ts'
import { expectFacts, expectRows, filledIn, inCsv, pathOf, rowsOf, valueIn } from './oracle/compare.ts'
import { FACTS } from './oracle/facts.ts'
import { openFilledConsole } from './oracle/fill.ts'
import { FIRING_LISTS } from './oracle/firing-lists.ts'
import { INVENTORY_LISTS } from './oracle/inventory-lists.ts'
import { LEDGER_LISTS } from './oracle/ledger-lists.ts'
import { MOMENT_TABLES } from './oracle/moment-pages.ts'
import { THING_TABLES } from './oracle/thing-pages.ts'

/*
 * What people read, cell by cell: what each column shows is written once more beside an SQL query of its own, and compared with the
 * page and its CSV over some working days. The rows are in that order, and each filter leaves the rows that its condition says.
 */

let harness: ConsoleHarness
beforeAll(async () => {
  harness = await openFilledConsole()
})
afterAll(() => harness[Symbol.asyncDispose]())

const TABLES = [...INVENTORY_LISTS, ...FIRING_LISTS, ...LEDGER_LISTS, ...THING_TABLES, ...MOMENT_TABLES]

describe.each(TABLES)('$at', declared => {
  test('shows in each cell what its column says, in order', async () => {
    const listed = await filledIn(harness, declared)
    const all = await rowsOf(harness, listed)
    expect(all.length).toBeGreaterThan(0)
    await expectRows(harness, listed, all)
  })

  if (declared.csv)
    test('has the same rows in CSV', async () => {
      const listed = await filledIn(harness, declared)
      const all = await rowsOf(harness, listed)
      const { text } = await harness.page(pathOf(listed.at).replace(/(?=\?|$)/, '.csv'))
      const [head, ...rows]: string[][] = parse(text)
      const columns = listed.csv?.split(', ') ?? []
      expect(head).toEqual(columns)
      expect(rows).toEqual(all.map((row, n) => columns.map((name, at) => inCsv(row[name], rows[n]?.[at]))))
    })

  test.each(Object.entries(declared.filters ?? {}))(
    '%s: the rows that match, neither all nor none',
    async (name, filter) => {
      const [value, condition, order] = typeof filter === 'string' ? [filter, `${name} = $1`] : filter
      const listed = await filledIn(harness, declared)
      const asked = await valueIn(harness, `select ${value} from (${listed.sql}) r`)
      const matching = await rowsOf(harness, listed, {
        condition,
        params: [asked],
        ...(order && { order }),
      })
      expect(matching.length, asked).toBeGreaterThan(0)
      expect(matching.length, asked).toBeLessThan((await rowsOf(harness, listed)).length)
      await expectRows(harness, listed, matching, { [name]: asked })
    },
  )

  test.each(Object.entries(declared.sorts ?? {}))('sorted by %s', async (sort, [order, condition]) => {
    const listed = await filledIn(harness, declared)
    const rows = await rowsOf(harness, listed, { condition, order })
    const found = await expectRows(harness, listed, rows, { sort })
    expect(found).not.toEqual(await expectRows(harness, listed, await rowsOf(harness, listed)))
  })
})

test('no list is left out', () => {
  const declared = TABLES.map(({ at, csv }) => csv && pathOf(at).split('?')[0])
  expect(PAGES.flatMap(({ path, csv }) => (csv && !declared.includes(path) ? path : []))).toEqual([])
})

test.each(FACTS)('$at: each fact is that of the thing', async declared => {
  await expectFacts(harness, await filledIn(harness, declared))
})
