import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAddress, readCsv } from './read-csv.ts'
import { openStagingHarness } from './staging-harness.ts'

/* Damaged records among rows, as files have them in which somebody wrote notes: they cost no row. */

const OVER_TWO_LINES = '(none),"Said "yes"\nthen left"'
const ON_ONE_LINE = 'x@example.com,"Ada "the" C"'
const DAMAGED = [
  OVER_TWO_LINES,
  ON_ONE_LINE,
  'x@example.com, "two\nlines"',
  `x@example.com,"${'long '.repeat(14_000)}"`,
  'x@example.com,was 5"11,',
]

test('no row is lost to damaged records among it, whatever their number', async () => {
  const record = fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...DAMAGED) },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 40 }),
      fc.constantFrom(7, 1 << 16),
      async (records, chunk) => {
        const rows = records.map((damaged, n) => damaged ?? `p${n}@example.com,fine`)
        const read = await readCsv(`${rows.join('\n')}\n`, { accept: isAddress, chunk })
        expect(read.rows.map(({ raw }) => raw)).toEqual(rows.filter((_, n) => records[n] === null))
      },
    ),
    { numRuns: 300, examples: [[[OVER_TWO_LINES, ON_ONE_LINE, null, OVER_TWO_LINES], 7]] },
  )
})

test('a row that follows a cell with a lone quote is read, though quotes below it are bad too', async () => {
  const rows = [
    `(none),"was 5'11" tall\nthen left"`,
    'ada@example.com,fine',
    '(none),"Said "no"\nand stayed"',
  ]
  const read = await readCsv(rows.join('\n'), { accept: isAddress })
  expect(read.rows.map(({ raw }) => raw)).toEqual(['ada@example.com,fine'])
})

test('a quote before the CR that ends the file closes its record, as one before a newline does', async () => {
  for (const end of ['', '\n', '\r\n', '\r']) {
    const { damaged } = await readCsv(`(none),"Said "no"\nand stayed"${end}`)
    expect(damaged).toMatchObject([{ line: 1, raw: '(none),"Said "no"\nand stayed"' }])
  }
})

test('a quote that is not closed costs its line only, though other rows have faults of their own', async () => {
  await using harness = await openStagingHarness()
  const rows = Array.from({ length: 200 }, (_, n) => {
    const locale = n % 10 < 3 ? '' : 'en-US'
    return `p${n}@example.com,${locale},${n === 50 ? '"oops' : 'fine'}`
  })
  const { summary, reasons } = await harness.stage(['email,locale,note', ...rows].join('\n'), {
    defaultLocale: null,
  })
  expect(summary).toMatchObject({ read: 200, pending: 140 })
  expect(Object.fromEntries(reasons.map(({ reason, rows }) => [reason, rows]))).toEqual({
    'no locale': 59,
    quotes: 1,
  })
})

test('who is inside the quotes of another row is warned of, if there are many', async () => {
  await using harness = await openStagingHarness()
  const people = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@example.com,hi`).join('\n')
  const enclosing = (count: number) =>
    `email,note\nada@example.com,"oops\n${people(count)}\nbob@example.com,12"\n`
  const { summary, warnings } = await harness.stage(enclosing(9))
  expect(summary).toMatchObject({ read: 1, pending: 1 })
  expect(warnings).toContain(
    '10 lines that may name somebody are inside the quotes of other rows, first in line 2: they are not rows. If they should be, correct the quotes there.',
  )
  expect((await harness.stage(enclosing(8))).warnings).toEqual([])
  const twice = `${enclosing(4)}${enclosing(5).replace('email,note\n', '')}`
  expect((await harness.stage(twice)).warnings.join()).toContain('11 lines that may name somebody')
})
