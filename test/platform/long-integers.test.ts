import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseLossless, stringifyLossless } from '#src/platform/lossless-json.ts'

/** What an integer is to be, by its digits alone. */
const exact = (digits: string) => (Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits))

/** Where a number may stand, and how to find it again. */
const PLACES: Readonly<
  Record<string, { json: (digits: string) => string; find: (value: never) => unknown }>
> = {
  alone: { json: digits => digits, find: value => value },
  'after a space': { json: digits => ` \n${digits} `, find: value => value },
  'the only member': { json: digits => `{"id":${digits}}`, find: ({ id }: { id: unknown }) => id },
  'a member among others': {
    json: digits => `{"a" : 1, "id" :\t${digits} ,"b":"x"}`,
    find: ({ id }: { id: unknown }) => id,
  },
  'the only item': { json: digits => `[${digits}]`, find: ([first]: unknown[]) => first },
  'an item among others': { json: digits => `["x", ${digits}, null]`, find: (items: unknown[]) => items[1] },
  'a member in an array': {
    json: digits => `{"list":[{"id":1},{"id":${digits}}]}`,
    find: ({ list }: { list: { id: unknown }[] }) => list[1]?.id,
  },
  'an item in a member in an array': {
    json: digits => `[{"ids":[${digits}],"other":{"id":${digits}}}]`,
    find: ([first]: { ids: unknown[]; other: { id: unknown } }[]) => {
      expect(first?.other.id).toEqual(first?.ids[0])
      return first?.ids[0]
    },
  },
}

const EDGES = [
  '9007199254740991', // 2^53 - 1, the last that a number holds: sixteen digits
  '9007199254740992',
  '9007199254740993', // rounded by JSON.parse, and sixteen digits too
  '1000000000000000',
  '999999999999999',
  '99999999999999999',
  '18446744073709551615',
]

for (const [place, { json, find }] of Object.entries(PLACES)) {
  test(`an integer is a number if a number holds it, and a bigint if not: ${place}`, () => {
    for (const digits of EDGES.flatMap(edge => [edge, `-${edge}`])) {
      const value = find(parseLossless(json(digits)) as never)
      // `toBe` tells 1 from 1n.
      expect(value).toBe(exact(digits))
    }
  })
}

test('any JSON with long integers in it comes back as it was, numbers as numbers and bigints as bigints', () => {
  const integer = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(value => exact(`${value}`))
  const tree = fc.letrec(tie => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      integer,
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('node'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).node
  fc.assert(
    fc.property(tree, value => {
      expect(parseLossless(stringifyLossless(value))).toStrictEqual(value)
    }),
    { numRuns: 500 },
  )
})
