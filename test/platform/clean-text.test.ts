import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanText, mayNeedCleaning } from '#src/platform/clean-text.ts'

test('U+0000 and lone surrogates become visible at any depth, and the paths are told', () => {
  const dirty = {
    name: 'a\0b',
    labels: { 'te\0am': 'x', fine: '\ud800' },
    tools: [{ name: 'ok' }, { name: '\udfff!' }],
  }
  expect(cleanText(dirty)).toEqual({
    value: {
      name: 'a␀b',
      labels: { 'te␀am': 'x', fine: '\ufffd' },
      tools: [{ name: 'ok' }, { name: '\ufffd!' }],
    },
    altered: ['name', 'labels.te␀am', 'labels.fine', 'tools[1].name'],
  })
})

test('what is clean is returned as it is', () => {
  const clean = { name: 'emoji 😀 and ␀', labels: { a: 'b' }, id: 2n ** 64n - 1n, none: null }
  expect(cleanText(clean)).toEqual({ value: clean, altered: [] })
  expect(cleanText(clean).value).toBe(clean)
})

test('keys that become equal stay apart, the same way whatever their order', () => {
  const entries: [string, string][] = [
    ['a␀', 'clean'],
    ['a\0', 'nul'],
    ['b\ud800', 'one'],
    ['b\ud801', 'two'],
  ]
  const cleaned = [entries, entries.toReversed()].map(order => cleanText(Object.fromEntries(order)).value)
  expect(cleaned[0]).toEqual({ 'a␀': 'clean', 'a␀␀': 'nul', 'b\ufffd': 'one', 'b\ufffd␀': 'two' })
  expect(cleaned[1]).toEqual(cleaned[0])
})

test('a key named __proto__ is data', () => {
  const { value } = cleanText(JSON.parse('{"__proto__":"a\\u0000"}'))
  expect(Object.entries(value)).toEqual([['__proto__', 'a␀']])
})

test('cleaned JSON has no U+0000 and no lone surrogate, loses no value, and a second cleaning finds nothing', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\0', '\ud800', '\udc00', '😀', '␀', '\ufffd') })
  fc.assert(
    fc.property(fc.dictionary(text, fc.dictionary(text, text)), dirty => {
      const { value } = cleanText(dirty)
      expect(JSON.stringify(value)).not.toMatch(/\\u0000|\\ud[89a-f]/)
      expect(cleanText(value).altered).toEqual([])
      const sizes = (object: Record<string, object>) =>
        Object.values(object).map(inner => Object.keys(inner).length)
      expect(sizes(value)).toEqual(sizes(dirty))
    }),
  )
})

test('a body that may hold such text is told from one that cannot', () => {
  expect(['"a\\u0000"', '"\\uD800"', '"\\ude00"'].map(mayNeedCleaning)).toEqual([true, true, true])
  expect(['"plain"', '"\\u003c"', '"\\ue000"', '"\\n"'].map(mayNeedCleaning)).toEqual([
    false,
    false,
    false,
    false,
  ])
})

test('an escape may be written in capitals or not, wherever: U+0000 and each half of a pair', () => {
  for (const half of ['d800', 'd8ff', 'daBc', 'dBFf', 'dC00', 'ddDd', 'deEE', 'dfff', 'd9aB']) {
    for (const digits of [half, half.toUpperCase(), half.toLowerCase()]) {
      const body = `"\\u${digits}"`
      expect([digits, mayNeedCleaning(body)]).toEqual([digits, true])
      expect(cleanText(JSON.parse(body)).value).toBe('\ufffd')
    }
  }
  for (const harmless of ['d7ff', 'e000', '0001', 'D7FF', '00d8']) {
    expect([harmless, mayNeedCleaning(`"\\u${harmless}"`)]).toEqual([harmless, false])
  }
})
