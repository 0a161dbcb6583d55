import { expect, test } from 'vitest'
import type { Tally } from '#src/imports/staging/row-sink.ts'
import type { StagedReason } from '#src/imports/staging/staging.ts'
import { type StagedFile, type StagingResult, warningsAbout } from '#src/imports/staging/warnings.ts'
import { OPTIONS } from '../options.ts'

/* The whole text of every warning about a staged file, each one alone, and the bounds from which it is said. */

type Found = {
  readonly options?: Partial<StagingResult['options']>
  readonly file?: Partial<StagedFile>
  readonly tally?: Partial<Tally>
  readonly reasons?: Readonly<Record<string, number>>
} & Partial<Pick<StagingResult, 'recipients' | 'maybeSent'>>

/** A file of 2,000 good rows, but for what is given. */
function warnings({ options, file, tally, reasons = {}, ...found }: Found): string[] {
  const kind = 'rejected' as const
  return warningsAbout({
    id: 7n,
    options: { ...OPTIONS, ...options },
    file: {
      compression: 'none',
      format: 'csv',
      delimiter: ',',
      columns: ['email'],
      mapped: { recipient: 'email' },
      unused: [],
      ...file,
    },
    recipients: 2_000,
    alreadyImported: 0,
    suppressions: null,
    maybeSent: [],
    tally: {
      read: 2_000,
      lastLine: 2_001,
      good: 2_000,
      bytes: 1,
      unseenCharacters: 0,
      namesOrSeparators: 0,
      enclosedLines: 0,
      enclosedTogether: 0,
      enclosedAt: null,
      withComponents: 0,
      component: null,
      wrongLocales: new Map(),
      ...tally,
    },
    reasons: Object.entries(reasons).map(([reason, rows]): StagedReason => ({ kind, reason, rows })),
    samples: [],
    rejects: [],
    durationMs: 1,
    ...found,
  })
}

const MAYBE = '2,000 of these recipients may have been sent by import 3; the outcome is unknown.'
const LOCALE =
  '2 rows rejected: the locale has no region, or does not exist: de (2 rows). Map it to the locale that is meant, for ' +
  'example: --map-locale de=de-DE'
const NOT_READ = 'If that says who has not confirmed or does not want mail,'
const COMPONENTS =
  'which the platform does not know. Map them to components of the status page with --components FILE, unless the ids are ' +
  'the same.'
const ENCLOSED =
  'that may name somebody are inside the quotes of other rows, first in line 5: they are not rows. If they should be, ' +
  'correct the quotes there.'
const UNUSUAL =
  'the address breaks a rule of e-mail that some real mailboxes break (john..doe@docomo.ne.jp). --lenient-addresses accepts ' +
  'such addresses.'
const CONFIRMED = { recipient: 'email', confirmed: 'confirmed' }

test.each<[Found, string[]]>([
  [{}, []],
  [{ tally: { read: 0 }, recipients: 0 }, ['The file has a header and no rows.']],
  [{ tally: { read: 1 }, recipients: 0 }, ['No row of the file will be sent.']],
  [
    { maybeSent: [{ earlierImport: 3n, rows: 2_000, isHeld: true }] },
    [
      `${MAYBE} This import would pause until a person decides: \`ferry imports resolve 3 --as sent\`, or \`--as resend\`.`,
    ],
  ],
  [
    { maybeSent: [{ earlierImport: 3n, rows: 2_000, isHeld: false }] },
    [`${MAYBE} This import sends them again and counts them as resent.`],
  ],
  [{ tally: { enclosedAt: 5, enclosedLines: 12, enclosedTogether: 9 } }, []],
  [{ tally: { enclosedAt: 5, enclosedLines: 12, enclosedTogether: 10 } }, [`12 lines ${ENCLOSED}`]],
  [{ tally: { enclosedAt: 5, enclosedLines: 19 } }, []],
  [{ tally: { enclosedAt: 5, enclosedLines: 20 } }, [`20 lines ${ENCLOSED}`]],
  [{ tally: { enclosedAt: 5, enclosedLines: 9, read: 20 } }, []],
  [{ tally: { enclosedAt: 5, enclosedLines: 10, read: 20 } }, [`10 lines ${ENCLOSED}`]],
  [{ reasons: { 'no locale': 1_999 } }, []],
  [
    { reasons: { 'no locale': 2_000 } },
    ['No row has a locale: set one for all rows with --default-locale, such as en-US.'],
  ],
  [{ reasons: { 'not a locale': 2 }, tally: { wrongLocales: new Map([['de', 2]]) } }, [LOCALE]],
  [{ reasons: { 'not a locale': 2 }, tally: { wrongLocales: new Map([['xx', 2]]) } }, []],
  [
    {
      reasons: { 'not a locale': 9 },
      tally: {
        wrongLocales: new Map([
          ['de', 1],
          ['pt_br', 4],
          ...['fr', 'it', 'nl', 'sv'].map(one => [one, 2] as const),
        ]),
      },
    },
    [
      '9 rows rejected: the locale has no region, or does not exist: pt_br (4 rows), fr (2 rows), it (2 rows), nl (2 rows), ' +
        'sv (2 rows). Map it to the locale that is meant, for example: --map-locale pt_br=pt-BR --map-locale fr=fr-FR ' +
        '--map-locale it=it-IT --map-locale nl=nl-NL --map-locale sv=sv-SE',
    ],
  ],
  [
    { file: { unused: ['Confirmed', 'Name'] } },
    [`Confirmed is not read. ${NOT_READ} name the product with --from, or remove those rows.`],
  ],
  [
    { file: { unused: ['state', 'opted-in'], mapped: CONFIRMED }, options: { from: 'instatus' } },
    [
      `state, opted-in are not read. ${NOT_READ} put these recipients on a list for --suppress, or remove those rows.`,
    ],
  ],
  [
    { options: { from: 'instatus' } },
    [
      'This does not look like an export of Instatus: it has none of its columns (confirmed, approved), so no row is left ' +
        'out because of them.',
    ],
  ],
  [
    {
      file: { mapped: CONFIRMED },
      options: { from: 'instatus' },
      tally: { withComponents: 1, component: 'c-1' },
    },
    [`1 row names components of Instatus (such as c-1), ${COMPONENTS}`],
  ],
  [
    { file: { mapped: CONFIRMED }, options: { from: 'instatus' }, tally: { withComponents: 2 } },
    [`2 rows name components of Instatus, ${COMPONENTS}`],
  ],
  [
    {
      file: { mapped: CONFIRMED },
      options: { from: 'instatus', components: 'map.csv' },
      tally: { withComponents: 2 },
    },
    [],
  ],
  [{ tally: { withComponents: 2 } }, []],
  [{ tally: { unseenCharacters: 1 } }, ['Invisible characters were removed from 1 address.']],
  [{ tally: { unseenCharacters: 2 } }, ['Invisible characters were removed from 2 addresses.']],
  [
    { tally: { unseenCharacters: 2 }, options: { method: 'sms' } },
    ['Invisible characters were removed from 2 recipients.'],
  ],
  [
    { tally: { namesOrSeparators: 2 } },
    ['A name, or a comma or semicolon at the end, was removed from 2 addresses: only the address is sent.'],
  ],
  [{ reasons: { 'unusual e-mail address': 1 } }, [`1 row rejected: ${UNUSUAL}`]],
  [{ reasons: { 'unusual e-mail address': 2_000 } }, [`2,000 rows rejected: ${UNUSUAL}`]],
  [
    { reasons: { 'other locale': 1 } },
    ["1 row repeats a recipient with another locale: the locale of the recipient's first row is used."],
  ],
  [
    { reasons: { 'other locale': 2 } },
    ["2 rows repeat a recipient with another locale: the locale of the recipient's first row is used."],
  ],
  [
    { reasons: { 'not UTF-8': 1 } },
    ['Not UTF-8: 1 line. If the file is Latin-1, convert it: iconv -f ISO-8859-1 -t UTF-8'],
  ],
])('what a person should know before they confirm is said whole (%#)', (found, said) => {
  expect(warnings(found)).toEqual(said)
})

test('several warnings come in the order in which they matter', () => {
  const found: Found = {
    recipients: 0,
    file: { unused: ['confirmed'] },
    tally: { unseenCharacters: 1, enclosedAt: 5, enclosedLines: 100 },
    maybeSent: [{ earlierImport: 3n, rows: 1, isHeld: false }],
    reasons: { 'no locale': 2_000, 'other locale': 1, 'not UTF-8': 1, 'unusual e-mail address': 1 },
  }
  expect(warnings(found).map(text => text.slice(0, 12))).toEqual([
    'No row of th',
    '1 of these r',
    '100 lines th',
    'No row has a',
    'confirmed is',
    'Invisible ch',
    '1 row reject',
    '1 row repeat',
    'Not UTF-8: 1',
  ])
})
