import { expect, test } from 'vitest'
import { RowCheck } from '#src/imports/staging/checks/row.ts'
import { fieldsOf } from '#src/imports/staging/file/header.ts'
import { PRESETS, type PresetName } from '#src/imports/staging/presets/presets.ts'

/*
 * What the columns of a product say of who may be written to: each value on its own, for each decides over people.
 */

type Outcome =
  | 'sent'
  | 'unknown status'
  | 'unconfirmed'
  | 'unsubscribed'
  | 'quarantined'
  | 'not approved'
  | 'not email'

/** Judges a row that is good but for the values given by the names of their fields. */
function outcomeOf(from: PresetName, values: Readonly<Record<string, unknown>>, method = 'email'): string {
  const preset = PRESETS[from]
  const fields = fieldsOf(preset, {})
  const check = new RowCheck({
    fields,
    preset,
    method,
    lenientAddresses: false,
    defaultLocale: 'en-US',
    locales: new Map(),
    all: true,
    components: null,
  })
  const row: Record<string, unknown> = { recipient: 'ada@example.com', ...NEEDED[from], ...values }
  const verdict = check.verdictOn(fields.map(({ name }) => row[name]))
  return verdict.kind === 'good' ? 'sent' : verdict.reason
}

/** What a row of a product must have to be sent. */
const NEEDED: Readonly<Record<PresetName, Readonly<Record<string, unknown>>>> = {
  statuspage: {},
  instatus: { confirmed: 'true' },
  betterstack: { confirmed_at: '2024-05-01T10:00:00Z' },
  cachet: { verified_at: '2024-05-01 10:00:00' },
  platform: {},
}

const NO_TIMES = [
  '',
  ' ',
  null,
  'null',
  'NULL',
  '\\N',
  '\\n',
  'None',
  'nil',
  '0000-00-00',
  '0000-00-00 00:00:00',
  '0000-00-00T00:00:00.000000',
]
const TIMES = [
  '2024-05-01',
  '2024-05-01 10:00:00',
  '2024-05-01T10:00:00Z',
  '2024-05-01T10:00:00+02:00',
  '946684800',
  '1714557600',
  '1714557600000',
  1714557600,
]
/** Neither a time nor none: not a date, a word, a number of too few or too many digits, an object. */
const NEITHER = [
  'yes',
  'true',
  'never',
  '0',
  '1',
  '2024',
  '01.05.2024',
  '2024-05-01x',
  '12345678',
  '17145576000001',
  'null ish',
  '2024-13-01',
  '2024-05-00',
  '2024-05-01 soon',
  '0000-00-00 00:00:01x',
  {},
]

const OF_TIMES: readonly (readonly [PresetName, string, never: Outcome, once: Outcome])[] = [
  ['statuspage', 'quarantined_at', 'sent', 'quarantined'],
  ['statuspage', 'purge_at', 'sent', 'quarantined'],
  ['betterstack', 'confirmed_at', 'unconfirmed', 'sent'],
  ['cachet', 'verified_at', 'unconfirmed', 'sent'],
  ['cachet', 'deleted_at', 'sent', 'unsubscribed'],
]

test.for(OF_TIMES)('%s, %s: without a time %s, with one %s, else rejected', ([from, field, never, once]) => {
  const outcomes = (values: readonly unknown[]) =>
    values.map(value => [value, outcomeOf(from, { [field]: value })])

  expect(outcomes(NO_TIMES)).toEqual(NO_TIMES.map(value => [value, never]))
  expect(outcomes(TIMES)).toEqual(TIMES.map(value => [value, once]))
  expect(outcomes(NEITHER)).toEqual(NEITHER.map(value => [value, 'unknown status']))
})

const OF_WORDS: readonly (readonly [PresetName, string, Readonly<Record<string, Outcome | string>>])[] = [
  [
    'instatus',
    'confirmed',
    {
      ...{ true: 'sent', TRUE: 'sent', yes: 'sent', '1': 'sent' },
      ...{ false: 'unconfirmed', False: 'unconfirmed', no: 'unconfirmed', '0': 'unconfirmed' },
      ...{ '': 'unknown status', null: 'unknown status', '2': 'unknown status', pending: 'unknown status' },
    },
  ],
  [
    'instatus',
    'approved',
    {
      ...{ true: 'sent', '1': 'sent', false: 'not approved', '0': 'not approved', FALSE: 'not approved' },
      ...{ '': 'unknown status', yes: 'unknown status', no: 'unknown status' },
    },
  ],
  [
    'statuspage',
    'state',
    {
      ...{ active: 'sent', Active: 'sent', unconfirmed: 'unconfirmed', quarantined: 'quarantined' },
      ...{
        unsubscribed: 'unsubscribed',
        '': 'unknown status',
        all: 'unknown status',
        deleted: 'unknown status',
      },
    },
  ],
  [
    'statuspage',
    'mode',
    {
      ...{
        email: 'sent',
        EMAIL: 'sent',
        sms: 'not email',
        webhook: 'not email',
        slack: 'not email',
        teams: 'not email',
      },
      ...{ integration_partner: 'not email', '': 'unknown status', mail: 'unknown status' },
    },
  ],
  ['platform', 'method', { email: 'sent', Email: 'sent', im: 'not email', '': 'unknown status' }],
]

test.for(OF_WORDS)('%s, %s: each word says what it says', ([from, field, expected]) => {
  const outcomes = Object.keys(expected).map(value => [value, outcomeOf(from, { [field]: value })])

  expect(Object.fromEntries(outcomes)).toEqual(expected)
})

test('booleans of NDJSON say what their words say', () => {
  expect(outcomeOf('instatus', { confirmed: true })).toBe('sent')
  expect(outcomeOf('instatus', { confirmed: false })).toBe('unconfirmed')
  expect(outcomeOf('instatus', { confirmed: 0 })).toBe('unconfirmed')
  expect(outcomeOf('instatus', { confirmed: null })).toBe('unknown status')
  expect(outcomeOf('instatus', { approved: false })).toBe('not approved')
  expect(outcomeOf('instatus', { approved: 0 })).toBe('not approved')
})

test('a status that the file has no column for says nothing, but where the row must have it', () => {
  expect(outcomeOf('statuspage', {})).toBe('sent')
  expect(outcomeOf('cachet', { deleted_at: undefined })).toBe('sent')
  expect(outcomeOf('instatus', { confirmed: undefined })).toBe('unknown status')
  expect(outcomeOf('betterstack', { confirmed_at: undefined })).toBe('unconfirmed')
  expect(outcomeOf('cachet', { verified_at: undefined })).toBe('unconfirmed')
})

test('one status that leaves out is enough, and one unknown rejects, whatever the others say', () => {
  expect(outcomeOf('statuspage', { mode: 'email', state: 'active', purge_at: '2024-05-01' })).toBe(
    'quarantined',
  )
  expect(outcomeOf('cachet', { deleted_at: '2024-05-01' })).toBe('unsubscribed')
  expect(outcomeOf('instatus', { confirmed: 'true', approved: '0' })).toBe('not approved')
  expect(outcomeOf('statuspage', { state: 'active', quarantined_at: 'maybe' })).toBe('unknown status')
})

test.for([
  ['instatus', 'phone'],
  ['instatus', 'webhook'],
  ['instatus', 'slack'],
  ['instatus', 'discord'],
  ['instatus', 'microsoftTeamsWebhook'],
  ['instatus', 'googleChatWebhook'],
  ['cachet', 'phone_number'],
  ['cachet', 'slack_webhook_url'],
] as const)('%s: who has only a %s is left out, who has an address too is not', ([from, other]) => {
  expect(outcomeOf(from, { recipient: '', [other]: '+49 151' })).toBe('not email')
  expect(outcomeOf(from, { recipient: '', [other]: '' })).toBe('no recipient')
  expect(outcomeOf(from, { [other]: '+49 151' })).toBe('sent')
})

test('an empty list is all components where the product says so, and nowhere else', () => {
  for (const from of Object.keys(PRESETS) as PresetName[]) {
    const preset = PRESETS[from]
    const fields = fieldsOf(preset, {})
    const rules = { fields, preset, method: 'email', lenientAddresses: false, defaultLocale: 'en-US' }
    const check = new RowCheck({ ...rules, locales: new Map(), all: false, components: null })
    const row: Record<string, unknown> = { recipient: 'ada@example.com', ...NEEDED[from], component_ids: [] }
    const verdict = check.verdictOn(fields.map(({ name }) => row[name]))
    expect([from, verdict.kind]).toEqual([from, from === 'betterstack' ? 'good' : 'rejected'])
  }
})
