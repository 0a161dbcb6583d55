import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RawRow } from '#src/platform/declared.ts'
import { stringifyLossless } from '#src/platform/lossless-json.ts'
import { agrees, readerAfter } from '#test/support/plain-rows.ts'
import { alertRuleWire } from '#test/support/wire.ts'

/** Texts that are their own JSON, among them some of two to four bytes a character. */
const plainText = fc
  .oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 6 }))
  .map(text => text.toWellFormed().replace(/["\\\p{Cc}]/gu, 'é'))
const text = fc.oneof(
  { weight: 20, arbitrary: plainText },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', 'é', 'Ã©', 'a\tb', '\\N', '"', '\u2028', '\0', 'null', '\x7f', '😀'),
  },
)
const integer = fc.oneof(
  { weight: 20, arbitrary: fc.nat() },
  {
    weight: 3,
    arbitrary: fc.constantFrom<number | bigint>(
      0,
      10 ** 15 - 1,
      2 ** 53 - 1,
      2n ** 53n,
      2n ** 63n,
      2n ** 64n - 1n,
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom<number | bigint>(2n ** 64n, -1, 1.5, 10n ** 19n) },
)
const labels = fc.oneof(
  fc.dictionary(fc.oneof(plainText, fc.constantFrom('__proto__', '1', 'b', 'a')), text, { maxKeys: 3 }),
  fc.constantFrom(null, undefined),
)
/** What differs from row to row; each value has the type of its field, most of the time. */
const values = fc.record(
  {
    id: integer,
    name: text,
    labels,
    enabled: fc.boolean(),
    triggered: fc.boolean(),
    cron_pattern: text,
    timezone: fc.option(text),
    creator_id: integer,
    creator_name: text,
    created_at: fc.oneof(integer, fc.integer()),
    updated_at: fc.oneof(integer, fc.integer()),
    delay_seconds: fc.integer(),
  },
  { requiredKeys: [] },
)
const rule = fc
  .tuple(
    values,
    fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, fc.constantFrom(1, 1.5, 'x', null, true, [])),
  )
  .map(([fields, undeclared]) => alertRuleWire({ ...fields, undeclared }))
const mutation = fc.record({
  at: fc.nat(600),
  remove: fc.constantFrom(0, 0, 0, 1, 2, 3),
  insert: fc.constantFrom(
    ...[
      '',
      'x',
      '7',
      '9',
      '"',
      '0',
      '-',
      '.5',
      'e3',
      ' ',
      ',',
      '}',
      '\\',
      '\\u0041',
      '\x01',
      'é',
      'null',
      '"id":7,',
    ],
  ),
  raw: fc.option(fc.constantFrom(0xff, 0xc0, 0x80), { freq: 8 }),
})
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never

function mutated(row: RawRow, mutations: readonly Mutation[] = []): Buffer {
  let bytes = Buffer.from(stringifyLossless(row))
  for (const { at, remove, insert, raw } of mutations) {
    const from = at % bytes.length
    const added = raw === null ? Buffer.from(insert) : Buffer.from([raw])
    bytes = Buffer.concat([bytes.subarray(0, from), added, bytes.subarray(from + remove)])
  }
  return bytes
}

test('a plain row is what the parser makes of it, and every other row is left to the parser', () => {
  const agreed = { whole: 0, foreign: 0, mutated: 0 }
  fc.assert(
    fc.property(
      rule,
      fc.array(rule, { minLength: 1, maxLength: 3 }),
      fc.tuple(mutation, mutation, mutation),
      (first, rows, changes) => {
        const learned = readerAfter(alertRuleWire(), first)
        for (const row of rows) {
          const bytes = mutated(row)
          if (agrees(learned, bytes)) agreed[/\P{ASCII}/u.test(bytes.toString()) ? 'foreign' : 'whole'] += 1
          for (const change of changes) if (agrees(learned, mutated(row, [change]))) agreed.mutated += 1
        }
      },
    ),
    { numRuns: 4_500, seed: 20261123 },
  )
  // The law says nothing unless each of them was read often.
  for (const count of Object.values(agreed)) expect(count, JSON.stringify(agreed)).toBeGreaterThan(300)
})

test('keys may come in any order, with optional fields or without', () => {
  const reversed = (row: RawRow) => Object.fromEntries(Object.entries(row).reverse())
  const reader = readerAfter()
  const optional = [{}, { timezone: null }, { timezone: undefined }, { labels: undefined }, { labels: null }]
  for (const fields of [
    ...optional,
    { name: 'Größe' },
    { labels: {} },
    { labels: { a: '{', b: ',"c":"d"' } },
  ]) {
    const isPlain = !JSON.stringify(fields).includes('\\')
    for (const row of [alertRuleWire(fields), reversed(alertRuleWire(fields))]) {
      expect(agrees(reader, mutated(row)), JSON.stringify(fields)).toBe(isPlain)
    }
  }
})

test('labels are read in the order of their keys, however many and whatever they are', () => {
  const reader = readerAfter()
  const of = (...keys: readonly string[]) => `{${keys.map((key, n) => `"${key}":"${n}"`).join()}}`
  for (const labels of [
    of('b', 'a', 'ab', '', 'a!', 'a b'),
    of('a', 'b', 'a'), // the last counts
    of('b', '10', '2'),
    of('\u{1f600}', '\ue000', 'é', '中'), // not in the order of their bytes
    of('\ue000', '\u{1f600}'),
    of(...Array.from({ length: 50 }, (_, n) => `k${99 - n}`)),
    of(...Array.from({ length: 51 }, (_, n) => `k${99 - n}`)),
  ]) {
    const row = stringifyLossless(alertRuleWire()).replace('{"team":"sre"}', labels)
    expect(agrees(reader, Buffer.from(row)), labels).toBe(true)
  }
})

test('texts of other bytes that look alike as single bytes are told apart', () => {
  const reader = readerAfter()
  for (const timezone of ['Ã©', 'é', 'Ã©', 'é']) {
    expect(agrees(reader, mutated(alertRuleWire({ timezone, labels: { [timezone]: timezone } })))).toBe(true)
  }
})

test('an undeclared field makes a row plain only once a row with it was parsed, and of each type', () => {
  const reader = readerAfter()
  for (const extra of ['x', 1.5e3, -7, true, null, 2n ** 64n]) {
    const row = alertRuleWire({ extra })
    const isNews = typeof extra !== 'bigint' && extra !== -7 // numbers like the one before
    expect(agrees(reader, mutated(row)), `${extra}`).toBe(!isNews)
    reader.drift.look(row)
    reader.plain.learn(row)
    expect(agrees(reader, mutated(row)), `${extra}`).toBe(true)
  }
  expect(
    agrees(reader, Buffer.from(stringifyLossless(alertRuleWire({ extra: 1 })).replace(':1}', ':01}'))),
  ).toBe(false)
})

test('a row with an undeclared list, or a key that needs an escape, is left to the parser', () => {
  for (const row of [alertRuleWire({ extra: [] }), alertRuleWire({ 'é"': 1 })]) {
    expect(readerAfter(row).plain.read(mutated(row), true)).toBeNull()
  }
})

test('of undeclared fields 100 are learned', () => {
  const extra = (from: number, count: number) =>
    alertRuleWire(Object.fromEntries(Array.from({ length: count }, (_, n) => [`extra_${from + n}`, 1])))
  const reader = readerAfter(extra(1, 99), extra(100, 2))
  expect(agrees(reader, mutated(extra(1, 100)))).toBe(true)
  expect(reader.plain.read(mutated(extra(101, 1)), true)).toBeNull()
})

test('what only looks like a plain row is left to the parser', () => {
  const usual = stringifyLossless(alertRuleWire())
  const { plain } = readerAfter()
  const others = [
    usual.replace('"id":1', '"id":01'),
    usual.replace('"id":1', '"id":-0'),
    usual.replace('"id":1', '"id":-1'),
    usual.replace('"id":1', '"id":18446744073709551616'),
    usual.replace('"id":1', '"id":99999999999999999999'),
    usual.replace('"id":1', '"id":100000000000000000000'),
    usual.replace('"delay_seconds":0', '"delay_seconds":-0'),
    usual.replace('"delay_seconds":0', '"delay_seconds":1000000000000000'),
    usual.replace('"delay_seconds":0', '"delay_seconds":null'),
    usual.replace('"delay_seconds":0', '"delay_seconds":'),
    usual.replace('"delay_seconds":0', '"delay_second":0'),
    usual.replace('"delay_seconds":0,', ''),
    usual.replace('"delay_seconds":0', '"delay_seconds":0,"delay_seconds":1'),
    usual.replace('"labels":', '"labels":{},"labels":'),
    usual.replace('"enabled":true', '"enabled":tru'),
    usual.replace('"enabled":true', '"enabled":True'),
    usual.replace('High load', String.raw`High\u0000`),
    usual.replace('High load', 'High\tload'),
    usual.replace('{"team":"sre"}', '{"team":1}'),
    usual.replace('{"team":"sre"}', '{"team":"sre",}'),
    usual.replace('{"team":"sre"}', '{"team":"sre"'),
    usual.replace('{"team":"sre"}', '{"team"}'),
    usual.replace('":', '" :'),
    `${usual} `,
    ` ${usual}`,
    `${usual}}`,
    usual.slice(0, -1),
    `${usual.slice(0, -1)},}`,
    '{}',
    '',
    usual.replace('High load', 'x'.repeat(70_000)),
  ]
  for (const other of others) expect(plain.read(Buffer.from(other), true), other.slice(0, 1_000)).toBeNull()
  const [before, after] = usual.split('High load') as [string, string]
  const invalid = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)])
  expect(plain.read(invalid, true)).toBeNull()
  for (const id of [
    '18446744073709551615',
    '9007199254740993',
    '9007199254740992',
    '9007199254740991',
    '0',
  ]) {
    expect(plain.read(Buffer.from(usual.replace('"id":1', `"id":${id}`)), true)?.id).toBe(id)
  }
})
