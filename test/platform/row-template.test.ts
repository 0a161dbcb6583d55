import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copyField } from '#src/db/copy.ts'
import { ALERT_RULE_VERSIONS } from '#src/inventory/versioned-tables.ts'
import type { AlertRule } from '#src/model/alert-rule.ts'
import type { AnyRow } from '#src/model/fields.ts'
import { canonicalAlertRule, fingerprint } from '#src/model/fingerprint.ts'
import { openDrift, type RawRow } from '#src/platform/declared.ts'
import { stringifyLossless } from '#src/platform/lossless-json.ts'
import { parseRow } from '#src/platform/read-rows.ts'
import { ALERT_RULES } from '#src/platform/row-kinds.ts'
import { RowTemplate } from '#src/platform/row-template.ts'
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

function parsed(text: Buffer) {
  const read = parseRow(ALERT_RULES, text)
  return read !== null && 'row' in read ? read : null
}

/** A template that has the shape of these rows, and the undeclared fields that are known by then. */
function templateOf(...rows: readonly RawRow[]) {
  const template = new RowTemplate<AlertRule>(ALERT_RULES, text => parsed(text)!.row as AnyRow)
  const drift = openDrift(ALERT_RULES.declared)
  for (const row of rows) {
    const read = parsed(mutated(row))
    if (read === null) continue
    drift.look(read.raw)
    template.learn(read.raw as RawRow)
  }
  return { template, drift }
}

/** Whether the template reads it. If it does, it is what the parser makes of it. */
function agrees({ template, drift }: ReturnType<typeof templateOf>, bytes: Buffer): boolean {
  const read = template.read(bytes)
  if (read === null) return false
  const other = parsed(bytes)
  if (other === null) throw new Error(`only the template reads ${bytes}`)
  const { row, id } = other
  for (const name of Object.keys(row) as (keyof AlertRule)[]) expect(read.row[name]).toStrictEqual(row[name])
  expect([read.id, []]).toEqual([`${id}`, other.altered])
  const columns = ALERT_RULE_VERSIONS.columns.map(
    column => `\t${copyField(ALERT_RULE_VERSIONS.textOf(row, column))}`,
  )
  expect(Buffer.from(read.written.columns, 'latin1').toString()).toBe(columns.join(''))
  expect(read.written.fingerprint).toBe(fingerprint(canonicalAlertRule(row)))
  const before = drift.found()
  drift.look(other.raw)
  expect(drift.found()).toEqual(before)
  return true
}

test('the template and the parser agree on every row, or the template declines', () => {
  const agreed = { whole: 0, foreign: 0, mutated: 0 }
  fc.assert(
    fc.property(
      rule,
      fc.array(rule, { minLength: 1, maxLength: 3 }),
      fc.tuple(mutation, mutation, mutation),
      (first, rows, changes) => {
        const learned = templateOf(alertRuleWire(), first)
        for (const row of rows) {
          const bytes = mutated(row)
          if (agrees(learned, bytes)) agreed[/\P{ASCII}/u.test(bytes.toString()) ? 'foreign' : 'whole'] += 1
          for (const change of changes) if (agrees(learned, mutated(row, [change]))) agreed.mutated += 1
        }
      },
    ),
    { numRuns: 6_000, seed: 20261123 },
  )
  // The law says nothing unless each of them was read often.
  for (const count of Object.values(agreed)) expect(count, JSON.stringify(agreed)).toBeGreaterThan(300)
})

test('rows in any order of keys are read, with optional fields or without', () => {
  const reversed = (row: RawRow) => Object.fromEntries(Object.entries(row).reverse())
  const learned = templateOf(reversed(alertRuleWire()))
  for (const fields of [
    {},
    { timezone: null },
    { timezone: undefined },
    { labels: undefined },
    { name: 'Größe' },
  ]) {
    expect(agrees(learned, mutated(reversed(alertRuleWire(fields))))).toBe(true)
  }
  expect(learned.template.read(mutated(alertRuleWire()))).toBeNull()
})

test('texts of other bytes that look alike as single bytes are told apart', () => {
  const learned = templateOf(alertRuleWire())
  for (const timezone of ['Ã©', 'é', 'Ã©', 'é']) {
    expect(agrees(learned, mutated(alertRuleWire({ timezone, labels: { [timezone]: timezone } })))).toBe(true)
  }
})

test('an unusual first row costs a few rows their speed, not all of them', () => {
  const unusual = alertRuleWire({ labels: undefined, timezone: undefined })
  const { template } = templateOf(unusual, alertRuleWire(), alertRuleWire())
  expect(template.read(mutated(alertRuleWire()))).not.toBeNull()
})

test('a row with an undeclared list, or a key that needs an escape, is left to the parser', () => {
  for (const row of [alertRuleWire({ extra: [] }), alertRuleWire({ 'é"': 1 })]) {
    expect(templateOf(row).template.read(mutated(row))).toBeNull()
  }
})

test('what only looks like the shape is left to the parser', () => {
  const usual = stringifyLossless(alertRuleWire())
  const { template } = templateOf(alertRuleWire())
  const others = [
    usual.replace('"id":1', '"id":01'),
    usual.replace('"id":1', '"id":-0'),
    usual.replace('"id":1', '"id":18446744073709551616'),
    usual.replace('"delay_seconds":0', '"delay_seconds":-0'),
    usual.replace('High load', String.raw`High\u0000`),
    usual.replace('High load', 'High\tload'),
    usual.replace('{"team":"sre"}', '{"team":1}'),
    `${usual} `,
    usual.slice(0, -1),
    usual.replace('High load', 'x'.repeat(70_000)),
  ]
  for (const other of others) expect(template.read(Buffer.from(other))).toBeNull()
  const [before, after] = usual.split('High load') as [string, string]
  const invalid = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)])
  expect(template.read(invalid)).toBeNull()
  expect(template.read(Buffer.from(usual))).not.toBeNull()
})
