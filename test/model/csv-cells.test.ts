import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine, escapeCell, unescapeCell } from '#src/model/csv-cells.ts'

/** What a spreadsheet takes for a formula. */
const RUNS = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\t=1', '=']

test('no cell begins as a formula does, and every cell comes back as it was', () => {
  for (const cell of RUNS) {
    expect([cell, escapeCell(cell)]).toEqual([cell, `'${cell}`])
    expect(unescapeCell(escapeCell(cell))).toBe(cell)
  }
})

test('a quote that was there before stays, however many there are', () => {
  for (const cell of ["'", "'tis", "''", "'=1", "''=1", "'\tx", 'plain', '', "o'brien"]) {
    expect([cell, unescapeCell(escapeCell(cell))]).toEqual([cell, cell])
  }
  // What was never escaped is not taken for escaped.
  for (const cell of ["'", "'tis", "''x", 'plain', ...RUNS])
    expect([cell, unescapeCell(cell)]).toEqual([cell, cell])
})

test('any cell comes back as it was, and none of those written is a formula', () => {
  const cell = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', 'a', ' ') })
  fc.assert(
    fc.property(cell, text => {
      const written = escapeCell(text)
      expect(/^[=+\-@\t\r]/.test(written)).toBe(false)
      expect(unescapeCell(written)).toBe(text)
    }),
    { numRuns: 500 },
  )
})

test('a cell with a comma, a quote or an end of a line stands in quotes, and no other', () => {
  expect(csvLine(['plain', '', 'a b', "it's", 'semi;colon'])).toBe("plain,,a b,it's,semi;colon")
  expect(csvLine(['a,b', 'say "hi"', 'two\nlines', 'old\rMac', '"'])).toBe(
    '"a,b","say ""hi""","two\nlines","old\rMac",""""',
  )
  expect(csvLine([])).toBe('')
})
