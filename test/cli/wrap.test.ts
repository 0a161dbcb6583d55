import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import wrapAnsi from 'wrap-ansi'
import { fittingWidths, tableWidth, wrapped } from '#src/cli/wrap.ts'

/** Words of letters, accents, wide letters, emoji and colours, with spaces anywhere. */
const TEXT = fc
  .array(fc.constantFrom('a', 'Zürich', '~', ' ', '  ', '警', '👩‍🚒', '\u001b[1mbold\u001b[22m', 'e\u0301'), {
    maxLength: 8,
  })
  .map(parts => parts.join(''))

test('short ways give what the packages give, for any text', () => {
  fc.assert(
    fc.property(TEXT, fc.integer({ min: 1, max: 30 }), (text, width) => {
      expect(tableWidth([[text]])).toBe(stringWidth(text))
      expect(fittingWidths([[text]], 1_000)).toEqual([stringWidth(text)])
      expect(wrapped(text, width).join('\n')).toBe(wrapAnsi(text, width, { hard: true }))
    }),
    { numRuns: 2_000 },
  )
})
