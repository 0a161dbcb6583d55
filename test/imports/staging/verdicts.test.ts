import { expect, test } from 'vitest'
import { RowCheck, type RowRules } from '#src/imports/staging/checks/row.ts'
import { ALL, COMPONENT_IDS, fieldsOf, LOCALE, RECIPIENT } from '#src/imports/staging/file/header.ts'
import { PRESETS, type PresetName } from '#src/imports/staging/presets/presets.ts'

/* All of what becomes of a row: the reason, the column and the whole message, which stand in the file of rejects. */

const RULES: RowRules = {
  fields: fieldsOf(null, {}),
  preset: null,
  method: 'email',
  lenientAddresses: false,
  defaultLocale: null,
  locales: new Map([['de', 'de-DE']]),
  all: false,
  components: null,
}
const ADA = 'ada@example.com'

type Row = readonly [recipient: unknown, all: unknown, components: unknown, locale: unknown]

test.each<[string, Row, Partial<RowRules>, number, string, string]>([
  ['an object', [{ a: 1 }, 'yes', '', 'en-US'], {}, RECIPIENT, 'not text', 'the recipient is not text'],
  [
    'half a character',
    ['a\ud800@example.com', 'yes', '', 'en-US'],
    {},
    RECIPIENT,
    'not text',
    'the recipient is not text',
  ],
  ['nobody', [' ', 'yes', '', 'en-US'], {}, RECIPIENT, 'no recipient', 'the row has no recipient'],
  [
    '256 octets',
    [`a@${'b'.repeat(250)}.com`, 'yes', '', 'en-US'],
    {},
    RECIPIENT,
    'recipient too long',
    'the recipient is longer than 255 octets',
  ],
  [
    '255 characters that are 256 octets',
    [`ä@${`${'b'.repeat(63)}.`.repeat(3)}${'b'.repeat(61)}`, 'yes', '', 'en-US'],
    {},
    RECIPIENT,
    'recipient too long',
    'the recipient is longer than 255 octets',
  ],
  [
    '256 octets in ASCII',
    [`a@${'ü.'.repeat(32)}de`, 'yes', '', 'en-US'],
    {},
    RECIPIENT,
    'recipient too long',
    'the recipient is longer than 255 octets',
  ],
  [
    '256 characters of another method',
    ['x'.repeat(256), 'yes', '', 'en-US'],
    { method: 'im' },
    RECIPIENT,
    'recipient too long',
    'the recipient is longer than 255 characters',
  ],
  [
    'two lines',
    ['ada\r@example.com', 'yes', '', 'en-US'],
    {},
    RECIPIENT,
    'unreadable recipient',
    'the recipient contains a line break',
  ],
  [
    'what could not be read',
    ['a\ufffda@example.com', 'yes', '', 'en-US'],
    {},
    RECIPIENT,
    'unreadable recipient',
    'the recipient contains an unreadable character',
  ],
  [
    'what cannot be seen, of another method',
    ['Team\u200bRoom', 'yes', '', 'en-US'],
    { method: 'im' },
    RECIPIENT,
    'unreadable recipient',
    'the recipient contains an unreadable character',
  ],
  [
    'a name alone',
    ['ada', 'yes', '', 'en-US'],
    {},
    RECIPIENT,
    'not an e-mail address',
    'the recipient is not an e-mail address',
  ],
  [
    'an address that some mailboxes have',
    ['a..b@example.com', 'yes', '', 'en-US'],
    {},
    RECIPIENT,
    'unusual e-mail address',
    'the recipient breaks a rule of e-mail addresses that some real mailboxes break; --lenient-addresses accepts it',
  ],
  [
    'no locale',
    [ADA, 'yes', '', ''],
    {},
    LOCALE,
    'no locale',
    'the row has no locale, and --default-locale was not given',
  ],
  [
    'neither yes nor no',
    [ADA, 'maybe', '', 'en-US'],
    {},
    ALL,
    'not yes or no',
    'all must be true or false (or yes, no, 1, 0)',
  ],
  [
    'no list',
    [ADA, '', '["c1"', 'en-US'],
    {},
    COMPONENT_IDS,
    'not components',
    'component ids must be separated by | ; , or spaces, or be a JSON array of ids',
  ],
  [
    'a rounded id',
    [ADA, '', 'c1|1.2E+15', 'en-US'],
    {},
    COMPONENT_IDS,
    'not components',
    'the id was taken for a number, and may be rounded; format the column as text before the ids come into it, and export it again',
  ],
  [
    'nothing to subscribe to',
    [ADA, '', '', 'en-US'],
    {},
    COMPONENT_IDS,
    'neither all nor components',
    'the row names neither all nor components; with --all such rows get all components',
  ],
  [
    'not all, and nothing else',
    [ADA, 'no', '', 'en-US'],
    {},
    ALL,
    'neither all nor components',
    'the row is not for all components, and does not name any',
  ],
  [
    'components that are not in the map',
    [ADA, '', 'c1|c2|c3|a@b', 'en-US'],
    { components: new Map([['c2', 'n2']]) },
    COMPONENT_IDS,
    'unmapped component',
    'component c1, c3 is not in the file given by --components',
  ],
  [
    'components of another method, which may be people',
    ['Room', '', 'c1', 'en-US'],
    { method: 'im', components: new Map() },
    COMPONENT_IDS,
    'unmapped component',
    'a component is not in the file given by --components',
  ],
])('a row with %s is rejected in whole words', (_what, row, rules, field, reason, message) => {
  const verdict = new RowCheck({ ...RULES, ...rules }).verdictOn(row)
  expect(verdict).toEqual({ kind: 'rejected', reason, field, message })
})

test('a row whose locale is none is rejected with the locale, so that it can be counted', () => {
  const message =
    'a locale is a language and a region that exist, such as en-US; --map-locale de=de-DE maps de to a locale'
  const rejected = { kind: 'rejected', reason: 'not a locale', field: LOCALE, message }
  const verdictOf = (locale: unknown) => new RowCheck(RULES).verdictOn([ADA, 'yes', '', locale])
  expect(verdictOf('en')).toEqual({ ...rejected, value: 'en' })
  expect(verdictOf({ a: 1 })).toEqual({ ...rejected, value: '' })
})

test.each<[Row, Partial<RowRules>, object]>([
  [[ADA, 'yes', 'c1', 'DE'], {}, { all: true, componentIds: [], locale: 'de-DE', cleaned: null }],
  [
    [`Ada <${ADA}>`, 'no', '["c1","c1",2]', 'en-US'],
    {},
    { all: false, componentIds: ['c1', '2'], locale: 'en-US', cleaned: 'name or separator' },
  ],
  [
    [`${ADA}\u200b`, '', '', ''],
    { all: true, defaultLocale: 'fr-FR' },
    { all: true, componentIds: [], locale: 'fr-FR', cleaned: 'unseen characters' },
  ],
  [
    [ADA, '', 'c1 c2', 'en-US'],
    {
      components: new Map([
        ['c1', 'n'],
        ['c2', 'n'],
      ]),
    },
    { all: false, componentIds: ['n'], locale: 'en-US', cleaned: null },
  ],
])('of a good row all is kept (%#)', (row, rules, expected) => {
  const verdict = new RowCheck({ ...RULES, ...rules }).verdictOn(row)
  expect(verdict).toEqual({ kind: 'good', recipient: ADA, ...expected })
})

/** The verdicts on rows of a product that have nothing but a recipient and this value of a status. */
function judged(from: PresetName, name: string, method = 'email') {
  const preset = PRESETS[from]
  const fields = fieldsOf(preset, {})
  const check = new RowCheck({ ...RULES, fields, preset, method, all: true, defaultLocale: 'en-US' })
  return (value: string) => {
    const verdict = check.verdictOn(
      fields.map(field => {
        if (field.name === name) return value
        return field.name === 'recipient' ? ADA : field.required ? GOOD[field.name] : undefined
      }),
    )
    return verdict.kind === 'good' ? 'sent' : `${verdict.kind}: ${verdict.reason}`
  }
}

/** A value of each status that is required, with which a row is sent. */
const GOOD: Readonly<Record<string, string>> = {
  confirmed: 'true',
  confirmed_at: '2026-01-01',
  verified_at: '2026-01-01',
}

const UNKNOWN = 'rejected: unknown status'
const HAPPENED = ['2026-04-29', '2026-04-29T14:30:00Z', '2026-04-29 14:30', '1777473000', '1777473000000']
const NEVER = ['', 'null', 'NULL', '\\N', 'none', 'nil', '0000-00-00', '0000-00-00 00:00:00.000']
const NO_TIME = ['yes', '2026', '2026-13-01', '2026-04-32', '12345678', '17774730000000']
const times = (never: string, once: string): Readonly<Record<string, readonly string[]>> => ({
  [never]: NEVER,
  [once]: HAPPENED,
  [UNKNOWN]: NO_TIME,
})
const YES = ['true', 'TRUE', 'yes', '1']
const NO = ['false', 'no', '0']

test.each<[PresetName, string, Readonly<Record<string, readonly string[]>>]>([
  [
    'statuspage',
    'mode',
    {
      sent: ['email', 'Email'],
      'left out: not email': ['sms', 'webhook', 'slack', 'teams', 'integration_partner'],
      [UNKNOWN]: ['', 'fax'],
    },
  ],
  [
    'statuspage',
    'state',
    {
      sent: ['active', 'ACTIVE'],
      'left out: unconfirmed': ['unconfirmed'],
      'left out: quarantined': ['quarantined'],
      'left out: unsubscribed': ['unsubscribed'],
      [UNKNOWN]: ['', 'all'],
    },
  ],
  ['statuspage', 'quarantined_at', times('sent', 'left out: quarantined')],
  ['statuspage', 'purge_at', times('sent', 'left out: quarantined')],
  ['instatus', 'confirmed', { sent: YES, 'left out: unconfirmed': NO, [UNKNOWN]: ['', 'maybe'] }],
  [
    'instatus',
    'approved',
    { sent: ['true', '1'], 'left out: not approved': ['false', '0'], [UNKNOWN]: ['', 'yes'] },
  ],
  ['betterstack', 'confirmed_at', times('left out: unconfirmed', 'sent')],
  ['cachet', 'verified_at', times('left out: unconfirmed', 'sent')],
  ['cachet', 'deleted_at', times('sent', 'left out: unsubscribed')],
  ['platform', 'method', { sent: ['email', 'EMAIL'], 'left out: not email': ['im', 'sms'], [UNKNOWN]: [''] }],
])('what each value of a status means: %s, %s', (from, name, expected) => {
  const verdictOf = judged(from, name)
  const values = Object.values(expected).flat()
  const found = values.map(value => [value, verdictOf(value)])
  expect(found).toEqual(
    Object.entries(expected).flatMap(([verdict, ofIt]) => ofIt.map(value => [value, verdict])),
  )
})
