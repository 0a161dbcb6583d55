import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

test('rows of one recipient are merged into the first: all wins, components unite, the first locale stays', async () => {
  const staged = await harness.stage(
    'email,all,component_ids,locale\n' +
      'Ada@Example.com,no,c1,en-GB\n' +
      'ada@example.com,no,c2|c3,en-GB\n' +
      'ADA@EXAMPLE.COM,no,c1,de-DE\n' +
      'ben@example.com,no,c1,en-US\n' +
      'ben@example.com,yes,,en-US\n' +
      'cleo@example.com,yes,,en-US\n' +
      'cleo@example.com,yes,,en-US\n' +
      'dan@example.com,no,c9,en-US\n',
  )

  expect(await harness.recipients()).toEqual([
    { line: 2, recipient: 'ada@example.com', all: false, ids: ['c1', 'c2', 'c3'], locale: 'en-GB' },
    { line: 5, recipient: 'ben@example.com', all: true, ids: null, locale: 'en-US' },
    { line: 7, recipient: 'cleo@example.com', all: true, ids: null, locale: 'en-US' },
    { line: 9, recipient: 'dan@example.com', all: false, ids: ['c9'], locale: 'en-US' },
  ])
  expect(
    await harness.query(
      'select line::int, kind, reason, kept_line::int, recipient from ferry.import_left_out order by line',
    ),
  ).toEqual([
    { line: 3, kind: 'duplicate', reason: 'other components', kept_line: 2, recipient: 'ada@example.com' },
    { line: 4, kind: 'duplicate', reason: 'other locale', kept_line: 2, recipient: 'ADA@EXAMPLE.COM' },
    { line: 6, kind: 'duplicate', reason: 'other components', kept_line: 5, recipient: 'ben@example.com' },
    { line: 8, kind: 'duplicate', reason: 'same settings', kept_line: 7, recipient: 'cleo@example.com' },
  ])
  expect(staged.summary).toMatchObject({ read: 8, duplicate: 4, pending: 4 })
  expect(staged.warnings).toEqual([expect.stringContaining('1 row repeats a recipient with another locale')])
})

test('what is merged, or left out, of one import stays as it is in another', async () => {
  const people = (name: string) => Array(3).fill(`${name}@example.com`)
  await harness.stage('email\na@example.com\nb@example.com\nc@example.com\nd@example.com\n')
  const first = await harness.recipients()
  const suppress = await harness.file('d@example.com\n')
  await harness.stage(['email', 'd@example.com', ...people('e'), ...people('b')].join('\n'), { suppress })
  const [earlier, later] = [(await harness.recipients()).slice(0, 4), (await harness.recipients()).slice(4)]
  expect(earlier).toEqual(first)
  expect(later).toMatchObject([
    { line: 3, recipient: 'e@example.com' },
    { line: 6, recipient: 'b@example.com' },
  ])
})

test('of two spellings of a recipient the plainer one is sent, whichever comes first', async () => {
  await harness.stage(
    'email\nJÖRG@münchen.de\nJörg@xn--mnchen-3ya.de\njörg@xn--mnchen-3ya.de\nben@EXAMPLE.com\nBEN@example.com\nben@example.com\ncleo@example.com\nCLEO@example.com\n',
  )
  expect((await harness.recipients()).map(({ line, recipient }) => [line, recipient])).toEqual([
    [2, 'jörg@xn--mnchen-3ya.de'],
    [5, 'ben@example.com'],
    [8, 'cleo@example.com'],
  ])
})

test('120,000 rows of which half come twice are merged in seconds', async () => {
  const rows = Array.from({ length: 120_000 }, (_, n) => `p${n % 60_000}@example.com`)

  const staged = await harness.stage(`email\n${rows.join('\n')}\n`)

  expect(staged.summary).toMatchObject({ read: 120_000, duplicate: 60_000, pending: 60_000 })
})

test.for([
  ['one address a line', 'BEN@example.com\n\ncleo@example.com'],
  ['a CSV with a column of them', 'when;e-mail\n2024;BEN@example.com\n2025;"cleo@example.com"\n'],
  ['NDJSON', '{"email":"ben@example.com"}\n{"email":"Cleo@example.com"}\n'],
])('nobody on a suppression list is imported: %s', async ([, list]) => {
  const suppress = await harness.file(list ?? '')

  const staged = await harness.stage(
    'email\nada@example.com\nben@example.com\nBen@example.com\ncleo@example.com\n',
    { suppress },
  )

  expect((await harness.recipients()).map(row => row.recipient)).toEqual(['ada@example.com'])
  expect(staged.reasons).toEqual([{ kind: 'suppressed', reason: 'suppression list', rows: 3 }])
})

test.for([10_000, 10_001, 30_000])(
  'nobody on a suppression list of %i people is imported, wherever in it they are',
  async count => {
    const people = Array.from({ length: count }, (_, n) => `p${n}@example.com`)
    const suppress = await harness.file(people.join('\n'))
    const listed = people.filter((_, n) => n % 997 === 0 || n === 9_999 || n >= count - 2)

    const staged = await harness.stage(['email', 'ada@example.com', ...listed].join('\n'), { suppress })

    expect(staged.summary).toMatchObject({ suppressed: listed.length, pending: 1 })
    expect((await harness.recipients()).map(row => row.recipient)).toEqual(['ada@example.com'])
  },
)

test.for([
  ['a damaged address', 'ben@example.com\ncleo@@example.com\n', 'line 2 ('],
  ['a pattern', 'ben@example.com\n*@spam.com\n', 'line 2 (a pattern, and only recipients who are listed'],
  ['a pattern of domains', 'ben@example.com\ncleo@*.spam.com\n', 'line 2 (a pattern'],
  ['an empty cell', 'email,when\nben@example.com,1\n,2\n', 'line 3 ('],
  ['bad UTF-8', Buffer.concat([Buffer.from('ben@example.com\n'), Buffer.from([0xff, 0x0a])]), 'line 2 ('],
  ['several columns without a header', 'ben@example.com,1\n', 'has no header'],
] as const)('a suppression list with %s stops the import', async ([, list, message]) => {
  const suppress = await harness.file(typeof list === 'string' ? list : Buffer.from(list))

  const refused = await harness.refusal('email\nada@example.com\n', { suppress })

  expect(refused.message).toContain(message)
  expect(refused.message).not.toMatch(/cleo|ben/)
})

test('components are those of the map, and one that is not in it rejects its row', async () => {
  const components = await harness.file('old,new\na,c1\nb,c2\nb2,c2\n')

  await harness.stage(
    'email,all,components\n' +
      'ada@example.com,,a b\n' +
      'ben@example.com,,a;x;y\n' +
      'cleo@example.com,yes,x\n' +
      'dan@example.com,,"b,b2"\n',
    { components, all: false },
  )

  expect((await harness.recipients()).map(({ line, all, ids }) => [line, all, ids])).toEqual([
    [2, false, ['c1', 'c2']],
    [4, true, null],
    [5, false, ['c2']],
  ])
  expect(await harness.query('select line::int, reason, message from ferry.import_rejects')).toEqual([
    {
      line: 3,
      reason: 'unmapped component',
      message: 'component x, y is not in the file given by --components',
    },
  ])
})

test.for([
  ['a,c1\na,c2\n', 'Line 2'],
  ['sep=;\na;c1\na;c2\n', 'Line 3'],
  ['a,c1\nb,\n', 'Line 2'],
  ['a,c1\nb\n', 'Line 2'],
  ['a\n', 'Line 1'],
  ['a,c1\nb,1.23457E+15\n', 'Line 2'],
  ['1.23457E+15,c1\n', 'has 1.23457E+15 in column 1: the id was taken for a number, and may be rounded'],
])('a map of components that is not one is refused %#', async ([map, where]) => {
  const components = await harness.file(map ?? '')

  expect((await harness.refusal('email\na@example.com\n', { components })).message).toContain(where)
})

test.for([
  '1.23457E+15',
  '"1,23457E+15"',
  '7E+17',
  'c1|1.23457e+15',
  '1.23E15',
  '5750613685214.0',
  '#NUM!',
  'c1|#N/A',
])('an id that was taken for a number rejects its row, with the column and what to do: %s', async cell => {
  await harness.stage(`email,component_ids\nada@example.com,${cell}\nben@example.com,12e45\n`, {
    all: false,
  })
  expect(
    await harness.query('select line::int, reason, "column", message from ferry.import_rejects'),
  ).toEqual([
    {
      line: 2,
      reason: 'not components',
      column: 'component_ids',
      message: expect.stringMatching(
        /^the id was taken for a number, and may be rounded; format the column as text/,
      ),
    },
  ])
})
