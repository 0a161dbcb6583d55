import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fieldsOf } from '#src/imports/staging/file/header.ts'
import { PRESET_NAMES, PRESETS, type PresetName } from '#src/imports/staging/presets/presets.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

/** Of each sample: who is sent, why others are left out, and why others are rejected; by line. */
const SAMPLES: readonly {
  file: string
  from: PresetName
  sent: Record<string, readonly string[] | 'all'>
  leftOut: Record<number, string>
  rejected: Record<number, string>
}[] = [
  {
    file: 'statuspage-api.ndjson',
    from: 'statuspage',
    sent: { 'ada@example.com': ['cmp1', 'cmp2'], 'ben@example.com': ['cmp3'] },
    leftOut: { 2: 'quarantined', 3: 'not email', 4: 'not email', 7: 'unconfirmed' },
    rejected: { 5: 'unknown status', 6: 'neither all nor components', 9: 'unknown status' },
  },
  {
    file: 'instatus.csv',
    from: 'instatus',
    sent: { 'ada@example.com': 'all', 'ben@example.com': ['cl1', 'cl2'] },
    leftOut: { 4: 'unconfirmed', 5: 'not email' },
    rejected: { 6: 'unknown status', 7: 'neither all nor components' },
  },
  {
    file: 'betterstack.ndjson',
    from: 'betterstack',
    sent: { 'ada@example.com': 'all', 'ben@example.com': ['101', '102'] },
    leftOut: { 3: 'unconfirmed', 4: 'unconfirmed' },
    rejected: { 5: 'unknown status', 6: 'neither all nor components' },
  },
  {
    file: 'cachet2.csv',
    from: 'cachet',
    sent: { 'ada@example.com': 'all', 'ben@example.com': ['1', '2'] },
    leftOut: { 4: 'unconfirmed', 5: 'unconfirmed', 6: 'not email' },
    rejected: { 7: 'unknown status' },
  },
  {
    file: 'cachet3.ndjson',
    from: 'cachet',
    sent: { 'ada@example.com': 'all', 'ben@example.com': ['1', '2'] },
    leftOut: { 3: 'unconfirmed' },
    rejected: {},
  },
  {
    file: 'platform.csv',
    from: 'platform',
    sent: {
      'ada@example.com': 'all',
      'ben@example.com': ['01HZX0000000000000000000A1', '01HZX0000000000000000000A2'],
    },
    leftOut: { 4: 'not email' },
    rejected: { 5: 'unknown status', 6: 'neither all nor components', 7: 'not a locale' },
  },
]

test.for(SAMPLES)('$file is read as --from $from says', async ({ file, from, sent, leftOut, rejected }) => {
  const staged = await harness.stage(await sample(file), { from, all: false })
  const areIdsOfProduct = from !== 'platform'
  expect(staged.warnings).toEqual(areIdsOfProduct ? [expect.stringContaining('--components FILE')] : [])

  const recipients = await harness.recipients()
  expect(Object.fromEntries(recipients.map(row => [row.recipient, row.all ? 'all' : row.ids]))).toEqual(sent)
  const out = await harness.leftOut()
  expect(Object.fromEntries(out.map(row => [row.line, row.reason]))).toEqual(leftOut)
  expect(new Set(out.map(row => row.kind))).toEqual(new Set(['suppressed']))
  expect(Object.fromEntries((await harness.rejects()).map(row => [row.line, row.reason]))).toEqual(rejected)
})

test('every preset has a sample', () => {
  expect(new Set(SAMPLES.map(({ from }) => from))).toEqual(new Set(PRESET_NAMES))
})

test("Statuspage's own import file needs no header", async () => {
  const staged = await harness.stage(await sample('statuspage-import.csv'), { from: 'statuspage', all: true })

  expect((await harness.recipients()).map(({ line, recipient }) => [line, recipient])).toEqual([
    [1, 'ada@example.com'],
    [2, 'ben@example.com'],
  ])
  expect(await harness.leftOut()).toMatchObject([{ line: 3, reason: 'not email' }])
  expect(await harness.rejects()).toMatchObject([{ line: 4, column: 'email' }])
  expect(staged.file.mapped).toEqual({ recipient: 'email', mode: 'mode' })
})

test("an export of Better Stack may have Ferry's own names for its columns", async () => {
  const content = 'recipient,component_ids,confirmed_at\nada@example.com,101|102,2026-04-29T14:30:00Z\n'
  await harness.stage(content, { from: 'betterstack', all: false })
  expect(await harness.recipients()).toMatchObject([{ recipient: 'ada@example.com', ids: ['101', '102'] }])
})

test('it may have two columns alone', async () => {
  const content = 'email,ada@example.com\nsms,+15550100\nemail,ben@example.com\n'
  const staged = await harness.stage(content, { from: 'statuspage', all: true })
  expect(staged.summary).toMatchObject({ read: 3, rejected: 0, suppressed: 1, pending: 2 })
})

test('and its first row may be a telephone, as people write it', async () => {
  const content = 'sms,+1 (555) 010-0100\nemail,ada@example.com\n'
  const staged = await harness.stage(content, { from: 'statuspage', all: true })
  expect(staged.summary).toMatchObject({ read: 2, suppressed: 1, pending: 1 })
})

test('a file that does not tell who has confirmed is refused, until a column is named for it', async () => {
  const content = 'email,all,opted_in\nada@example.com,yes,true\nben@example.com,yes,false\n'

  const refused = await harness.refusal(content, { from: 'instatus' })
  expect(refused.message).toBe('This does not look like an export of Instatus: it has no column confirmed.')
  expect(refused.whatToDo).toBe(
    'Leave out --from, or name the column that holds it with --map confirmed=COLUMN.',
  )

  const staged = await harness.stage(content, { from: 'instatus', map: { confirmed: 'opted_in' } })
  expect(staged.summary).toMatchObject({ suppressed: 1, pending: 1 })
})

test.for([
  [null, 'email,confirmed\nada@example.com,false\n', 'confirmed'],
  [null, 'email,is_subscribed\nada@example.com,false\n', 'is_subscribed'],
  ['statuspage', 'mode,email,Unsubscribed At\nemail,ada@example.com,2026-01-01\n', 'Unsubscribed At'],
  ['instatus', 'email,confirmed,state\nada@example.com,true,unsubscribed\n', 'state'],
] as const)(
  'a column that seems to say who has confirmed, and is not read, gives a warning %#',
  async ([from, content, column]) => {
    const staged = await harness.stage(content, { from })

    expect(staged.warnings).toEqual([expect.stringContaining(`${column} is not read.`)])
  },
)

test('a file without any column of its product gives a warning', async () => {
  const content = 'Email,Name,Locale\nada@example.com,Ada,en-US\n'
  const staged = await harness.stage(content, { from: 'statuspage' })

  expect(staged.warnings).toEqual([
    expect.stringContaining(
      'does not look like an export of Atlassian Statuspage: it has none of its columns (mode, state, ',
    ),
  ])
  expect(
    (await harness.stage(content, { from: 'statuspage', map: { state: 'Name' } })).warnings,
  ).not.toContainEqual(expect.stringContaining('does not look like'))
})

function sample(file: string): Promise<Buffer> {
  return readFile(new URL(`samples/${file}`, import.meta.url))
}

test('a warning about components names one of them, never what may be a person', async () => {
  const row = (components: string) => `ada@example.com,${components},true\n`
  const warningOf = async (...cells: string[]) =>
    (await harness.dryRun(`email,components,confirmed\n${cells.map(row).join('')}`, { from: 'instatus' }))
      .warnings[0]
  expect(await warningOf('ben@example.com')).toMatch(/^1 row names components of Instatus, which/)
  expect(await warningOf('ben@example.com|c1', 'c2')).toMatch(
    /^2 rows name components of Instatus \(such as c1\), which/,
  )
})

const ALL = 'all: all, subscribe all, all components'
const LOCALE = 'locale: locale, language, lang'
const IDS = 'component_ids: components, component_ids'

test.for<[PresetName, object, readonly string[]]>([
  [
    'statuspage',
    { product: 'Atlassian Statuspage' },
    [
      'recipient, required: email, recipient, email address, address',
      ALL,
      IDS,
      LOCALE,
      'mode: mode, type, subscriber type',
      'state: state, status',
      'quarantined_at: quarantined_at',
      'purge_at: purge_at',
    ],
  ],
  [
    'instatus',
    { product: 'Instatus' },
    [
      'recipient, required: email, recipient',
      ALL,
      IDS,
      'locale: locale',
      'confirmed, required: confirmed',
      'approved: approved',
      ...['phone', 'webhook', 'slack', 'discord', 'microsoftTeamsWebhook', 'googleChatWebhook'].map(
        one => `${one}: ${one}`,
      ),
    ],
  ],
  [
    'betterstack',
    { product: 'Better Stack', inside: 'attributes', emptyListIsAll: true },
    [
      'recipient, required: email, recipient, attributes.email',
      ALL,
      'component_ids: status_page_resource_ids, component_ids, attributes.status_page_resource_ids',
      LOCALE,
      'confirmed_at, required: confirmed_at, attributes.confirmed_at',
    ],
  ],
  [
    'cachet',
    { product: 'Cachet', componentKey: 'component_id' },
    [
      'recipient, required: email, recipient',
      'all: global, all',
      'component_ids: subscriptions, components, component_ids',
      LOCALE,
      'verified_at, required: verified_at, email_verified_at',
      'deleted_at: deleted_at',
      'phone_number: phone_number',
      'slack_webhook_url: slack_webhook_url',
    ],
  ],
  [
    'platform',
    { product: 'the platform itself' },
    ['recipient, required: recipient', 'all: subscribe all, all', IDS, 'locale: locale', 'method: method'],
  ],
])('every name that a column of %s may have is known, the first one first', ([name, product, fields]) => {
  const preset = PRESETS[name]
  const found = fieldsOf(preset, {}).map(
    field => `${field.name}${field.required ? ', required' : ''}: ${field.columns.join(', ')}`,
  )
  expect(found).toEqual(fields)
  expect(preset).toMatchObject(product)
})
