import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Delimiter } from '#src/imports/staging/file/csv.ts'
import { isAddress, readCsv } from './read-csv.ts'

const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', ';', '\n', '\r\n', ' ', '😀', "'", '=') })
const table = fc
  .integer({ min: 1, max: 4 })
  .chain(width => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 20 }))

/** Quotes every cell that must be, and of the others those that `isQuoted` says. */
function written(
  rows: string[][],
  newline: string,
  delimiter: string,
  isQuoted: (n: number) => boolean,
): string {
  let cells = 0
  const cellOf = (value: string, width: number) => {
    const needsQuotes = value.includes(delimiter) || /["\r\n]/.test(value) || (width === 1 && value === '')
    return isQuoted(cells++) || needsQuotes ? `"${value.replaceAll('"', '""')}"` : value
  }
  return rows.map(row => row.map(value => cellOf(value, row.length)).join(delimiter) + newline).join('')
}

const ALL_QUOTED = () => true

test('agrees with csv-parse on every valid file, quoted or not, ended or not, however it is cut into chunks', async () => {
  const property = fc.asyncProperty(
    table,
    fc.constantFrom('\n', '\r\n'),
    fc.constantFrom<Delimiter>(',', ';', '\t'),
    fc.integer({ min: 1, max: 50 }),
    fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
    fc.boolean(),
    async (rows, newline, delimiter, chunk, quoted, isEnded) => {
      const whole = written(rows, newline, delimiter, n => quoted[n % quoted.length] ?? true)
      const content = isEnded ? whole : whole.slice(0, whole.length - (rows.length > 0 ? newline.length : 0))
      const theirs: string[][] = parse(content, { delimiter, record_delimiter: newline })

      const ours = await readCsv(content, { width: rows[0]?.length ?? 1, delimiter, chunk })

      expect(ours.damaged).toEqual([])
      expect(ours.rows.map(row => row.values)).toEqual(theirs)
      expect(theirs).toEqual(rows)
    },
  )
  await fc.assert(property, { numRuns: 1000 })
})

const anyLine = fc.string({
  unit: fc.constantFrom('a', '"', '"', ',', ',', 'é', ' ', '\r', '\0'),
  maxLength: 12,
})

test('every line of any file is in exactly one row or one damaged line', async () => {
  const property = fc.asyncProperty(
    fc.array(anyLine, { maxLength: 30 }),
    fc.integer({ min: 1, max: 40 }),
    fc.boolean(),
    async (lines, chunk, isStrict) => {
      const accept = isStrict ? (values: readonly unknown[]) => values[0] !== 'a' : () => true

      const read = await readCsv(lines.join('\n'), { chunk, accept })

      const covered = [
        ...read.rows.flatMap(row => row.raw.split('\n').map((_, n) => row.line + n)),
        ...read.damaged.flatMap(({ line, raw }) => raw.split('\n').map((_, n) => line + n)),
      ].sort((a, b) => a - b)
      const full = lines.flatMap((line, n) => (line === '' || line === '\r' ? [] : [n + 1]))
      // A row over several lines may hold empty ones.
      expect(covered).toEqual([...new Set(covered)])
      expect(covered).toEqual(expect.arrayContaining(full.filter(line => !isLastReturn(lines, line))))
      const twice = await readCsv(lines.join('\n'), { accept })
      expect(twice).toEqual(read)
    },
  )
  await fc.assert(property, { numRuns: 500 })
})

/** A carriage return at the very end may be a row of one empty field. */
function isLastReturn(lines: readonly string[], line: number): boolean {
  return line === lines.length && lines[line - 1] === '\r'
}

const noteLine = fc.oneof(
  fc.constantFrom('boss@corp.example,assistant', 'boss@corp.example,"the ""boss"""', 'thanks', '', ',', '"'),
  fc.string({ maxLength: 10 }),
)

test('nobody is found in a sound file but in the column of addresses', async () => {
  const row = fc.record({
    first: fc.constantFrom('ada@example.com', '(none)', '', 'ben@example.com'),
    note: fc.array(noteLine, { maxLength: 9 }).map(lines => lines.join('\n').replaceAll('\0', '')),
    extra: fc.constantFrom([], [], ['x']),
  })
  const property = fc.asyncProperty(
    fc.array(row, { maxLength: 6 }),
    fc.integer({ min: 1, max: 60 }),
    async (rows, chunk) => {
      const content = written(
        rows.map(({ first, note, extra }) => [first, note, ...extra]),
        '\n',
        ',',
        ALL_QUOTED,
      )
      const read = await readCsv(content, { accept: isAddress, chunk })

      const good = rows.filter(({ first, extra }) => first.includes('@') && extra.length === 0)
      expect(read.rows.map(({ values }) => values)).toEqual(good.map(({ first, note }) => [first, note]))
      expect(read.rows.length + read.damaged.length).toBe(rows.length)
    },
  )
  // A row with a cell too many, as it was found once.
  const note = 'boss@corp.example,assistant\n'.repeat(5)
  await fc.assert(property, {
    numRuns: 500,
    examples: [[[{ first: 'ada@example.com', note, extra: ['x'] }], 1]],
  })
})

test('lines that are too long, not UTF-8 or hold a NUL byte cost themselves', async () => {
  const content = Buffer.concat([
    Buffer.from(`a,1\n${'x'.repeat(300_000)},2\nb,3\n`),
    Buffer.from([0x6a, 0xf6, 0x72, 0x67, 0x2c, 0x34, 0x0a]),
    Buffer.from('c\0,5\nd,6\n'),
  ])

  for (const chunk of [1000, 70_000, 1 << 20]) {
    const read = await readCsv(content, { chunk })
    expect(read.rows.map(row => [row.line, row.values])).toEqual([
      [1, ['a', '1']],
      [3, ['b', '3']],
      [6, ['d', '6']],
    ])
    expect(read.damaged.map(({ line, reason }) => [line, reason])).toEqual([
      [2, 'line too long'],
      [4, 'not UTF-8'],
      [5, 'NUL byte'],
    ])
    expect(read.damaged[0]?.raw).toBe('x'.repeat(1024))
  }
})

test.for([1000, 1 << 20])(
  'a line one byte too long is damaged, one of the longest is not; chunks of %i',
  async chunk => {
    const line = (length: number) => `${'x'.repeat(length - 2)},1`

    const read = await readCsv(`a,1\n${line(64 * 1024)}\n${line(64 * 1024 + 1)}\nb,2\n`, { chunk })

    expect(read.rows.map(row => row.line)).toEqual([1, 2, 4])
    expect(read.damaged).toMatchObject([{ line: 3, reason: 'line too long' }])
  },
)
