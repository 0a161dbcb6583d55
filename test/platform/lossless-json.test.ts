import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseLossless, stringifyLossless } from '#src/platform/lossless-json.ts'

test('integers beyond 2^53 come through both ways, digit for digit', () => {
  const text =
    '{"id":18446744073709551615,"least":-9223372036854775808,"small":42,"list":[9007199254740993,1]}'
  const value = parseLossless(text)
  expect(value).toEqual({ id: 2n ** 64n - 1n, least: -(2n ** 63n), small: 42, list: [9007199254740993n, 1] })
  expect(stringifyLossless(value)).toBe(text)
})

test('a bare long integer is exact too', () => {
  for (const text of ['18446744073709551615', ' 18446744073709551615'])
    expect(parseLossless(text)).toBe(2n ** 64n - 1n)
})

test('numbers that are no integers stay numbers', () => {
  expect(parseLossless('{"a":1234567890123456.5,"b":1e20,"c":12345678901234567890e1}')).toEqual({
    a: 1234567890123456.5,
    b: 1e20,
    c: Number('12345678901234567890e1'),
  })
})

test('digits inside strings are text, whatever stands around them', () => {
  const value = {
    '"id": 12345678901234567': 'x\\":12345678901234567,',
    note: '"id":12345678901234567,',
    id: 1,
  }
  expect(parseLossless(JSON.stringify(value))).toEqual(value)
})

test('a key named __proto__ is data', () => {
  for (const id of ['1', '18446744073709551615']) {
    const value = parseLossless(`{"__proto__":${id},"labels":{"__proto__":"x","id":${id}}}`) as {
      labels: object
    }
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value)).toEqual(['__proto__', 'labels'])
    expect(Object.entries(value.labels)[0]).toEqual(['__proto__', 'x'])
    expect(stringifyLossless(value)).toBe(`{"__proto__":${id},"labels":{"__proto__":"x","id":${id}}}`)
  }
})

test('what is no JSON is refused, long integers or not', () => {
  for (const text of [
    '',
    '{',
    '{"id":0012345678901234567}',
    '{"x":1":12345678901234567}',
    '[12345678901234567,]',
  ]) {
    expect(() => parseLossless(text), text).toThrow(SyntaxError)
  }
})

test('it agrees with the reviver of JSON.parse on any JSON', () => {
  const key = fc.oneof(fc.string(), fc.constantFrom('id', '__proto__', 'a":1234567890123456789,"b', '\ud800'))
  const integer = fc.oneof(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.maxSafeInteger().map(BigInt))
  const digits = integer.map(n => `:${n},`)
  const { value } = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 4 },
      integer,
      fc.string(),
      digits,
      fc.boolean(),
      fc.double(),
      tie('object'),
      tie('list'),
    ),
    object: fc.dictionary(key, tie('value')),
    list: fc.array(tie('value')),
  }))
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (json, indent) => {
      const text = JSON.stringify(
        json,
        (_key, member) =>
          typeof member === 'bigint'
            ? (JSON as never as { rawJSON(t: string): object }).rawJSON(`${member}`)
            : member,
        indent,
      )
      expect(stringifyLossless(parseLossless(text))).toBe(stringifyLossless(revived(text)))
    }),
    { numRuns: 1_000 },
  )
})

function revived(text: string): unknown {
  const parse = JSON.parse as (
    text: string,
    reviver: (k: string, v: unknown, c: { source: string }) => unknown,
  ) => unknown
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  )
}
