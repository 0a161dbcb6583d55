import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutText, firstOf, lastOf } from '#src/model/cut-text.ts'

const text = fc
  .array(fc.constantFrom('a', '\u00e9', '\u{1f600}', '\u0301'), { maxLength: 20 })
  .map(parts => parts.join(''))

test('a cut text is no longer than it may be, never ends in half a character, and is the text if it fits', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 30 }), (whole, max) => {
      for (const part of [cutText(whole, max), firstOf(whole, max), lastOf(whole, max)]) {
        expect(part.length).toBeLessThanOrEqual(max)
        expect(part.isWellFormed()).toBe(true)
        if (whole.length <= max) expect(part).toBe(whole)
      }
      expect(whole.startsWith(firstOf(whole, max))).toBe(true)
      expect(whole.endsWith(lastOf(whole, max))).toBe(true)
      if (whole.length > max) expect(cutText(whole, max)).toMatch(/…$/)
      for (const part of [firstOf(whole, max), lastOf(whole, max)])
        expect(part.length).toBeGreaterThanOrEqual(Math.min(whole.length, max) - 1)
    }),
  )
})
