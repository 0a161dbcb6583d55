import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { stageImport } from '#src/imports/staging/stage.ts'
import { NEVER, OPTIONS } from '../options.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

const TWO = 'email\nada@example.com\nben@example.com\n'

test.for([
  ['gzip', gzipSync(TWO)],
  ['gzip', Buffer.concat([gzipSync('email\nada@example.com\n'), gzipSync('ben@example.com\n')])],
  ['zstd', zstdCompressSync(TWO)],
  [
    'zstd',
    Buffer.concat([zstdCompressSync('email\nada@example.com\n'), zstdCompressSync('ben@example.com\n')]),
  ],
] as const)('%s is found by the content, of one part or of several', async ([compression, content]) => {
  const staged = await harness.stage(content)

  expect(staged.file.compression).toBe(compression)
  expect(staged.summary).toMatchObject({ read: 2, pending: 2 })
})

test.for([
  [gzipSync(TWO.repeat(1000)).subarray(0, 60), /gzip data .* damaged or cut off/],
  [zstdCompressSync(TWO.repeat(1000)).subarray(0, 40), /zstd data .* damaged or cut off/],
] as const)('compressed data that is cut off is refused %#', async ([content, message]) => {
  expect((await harness.refusal(content)).message).toMatch(message)
})

test.for([
  ['a byte order mark', `\ufeff${TWO}`, ','],
  ['CRLF', TWO.replaceAll('\n', '\r\n'), ','],
  ['no last newline', TWO.trimEnd(), ','],
  ['empty lines', `\n${TWO.replaceAll('\n', '\n\n')}`, ','],
  ['semicolons', 'email;name\nada@example.com;A\nben@example.com;"B;b"\n', ';'],
  ['tabs', 'email\tname\nada@example.com\tA\nben@example.com\tB\n', '\t'],
  ["Excel's hint", 'sep=;\r\nemail;a,b,c\r\nada@example.com;A\r\nben@example.com;B\r\n', ';'],
  ["Excel's hint about tabs", '\ufeff"sep=\t"\nemail\tname\nada@example.com\tA\nben@example.com\tB\n', '\t'],
  ['quotes', '"email","name"\n"ada@example.com","A"\n"ben@example.com","B ""b"""\n', ','],
] as const)('reads a file with %s', async ([, content, delimiter]) => {
  const staged = await harness.stage(content)

  expect(staged.file.delimiter).toBe(delimiter)
  expect((await harness.recipients()).map(row => row.recipient)).toEqual([
    'ada@example.com',
    'ben@example.com',
  ])
  expect(staged.summary.rejected).toBe(0)
})

test("lines are counted from the first of the file, Excel's hint included", async () => {
  await harness.stage('sep=;\n\nemail;name\nada@example.com;A\nben;B\n')

  expect((await harness.recipients()).map(({ line }) => line)).toEqual([4])
  expect(await harness.rejects()).toMatchObject([{ line: 5, column: 'email', raw: 'ben;B' }])
})

test('a quoted line break is part of its row', async () => {
  await harness.stage('email,name\nada@example.com,"A\nB"\nben@example.com,C\n')

  expect((await harness.recipients()).map(({ line }) => line)).toEqual([2, 4])
  expect(await harness.query('select raw from ferry.import_recipients where line = 2')).toEqual([
    { raw: 'ada@example.com,"A\nB"' },
  ])
})

test.for([
  ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${TWO}`, 'utf16le'), /UTF-16/, /iconv -f UTF-16 /],
  ['UTF-16 without one', Buffer.from(TWO, 'utf16le'), /UTF-16LE/, /iconv -f UTF-16LE/],
  [
    'UTF-16 of the other order',
    Buffer.from(`\ufeff${TWO}`, 'utf16le').swap16(),
    /is UTF-16 text/,
    /iconv -f UTF-16 /,
  ],
  ['the same without a mark', Buffer.from(TWO, 'utf16le').swap16(), /UTF-16BE/, /iconv -f UTF-16BE/],
  ['UTF-32', Buffer.from('fffe00006500000061000000', 'hex'), /UTF-32/, /iconv -f UTF-32/],
  ['binary garbage', Buffer.from(Array.from({ length: 999 }, (_, n) => (n * 7919) % 256)), /not text/, /CSV/],
  ['an Excel file', Buffer.from('PK\x03\x04 and more'), /Excel/, /CSV UTF-8/],
  ['an old Excel file', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /an old Excel file/, /CSV UTF-8/],
  ['a bzip2 file', Buffer.from('425a6839314159265359', 'hex'), /a bzip2 file/, /bzip2 -dc/],
  ['an xz file', Buffer.from('fd377a585a000004', 'hex'), /an xz file/, /xz -dc/],
  ['a PDF file', '%PDF-1.7\nand more', /a PDF file/, /CSV/],
  ['an empty file', '', /is empty/, /export/],
  ['blank lines only', '\n\n \n', /is empty/, /export/],
  ['a JSON array', '[\n {"email": "ada@example.com"}]', /JSON array/, /jq -c '\.\[\]' \S+ > \S+\.ndjson/],
  ['a JSON document', '{\n  "data": []\n}', /one JSON document/, /jq -c '\.data\[\]'/],
  [
    'no column of recipients',
    'Name,Mailadress\nAda,x\n',
    /columns are Name, Mailadress/,
    /--map recipient=Mailadress/,
  ],
  ['columns separated by |', 'email|name\nada@example.com|x\n', /separated by \|/, /comma, semicolon or tab/],
  ['a hint of such columns', 'sep=|\nemail|name\nada@example.com|x\n', /separated by \|/, /comma, semicolon/],
  ['the recipients twice', 'email,Email\na@example.com,b@example.com\n', /more than once/, /Rename/],
  ['no header', 'ada@example.com,yes\nben@example.com,yes\n', /has no header/, /echo/],
  ['a header that is not UTF-8', Buffer.from([0x65, 0xe9, 0x2c, 0x61, 0x0a]), /header .* not UTF-8/, /iconv/],
  ['lone carriage returns', 'email\rada@example.com\r', /carriage return/, /tr /],
] as const)('refuses %s, and says what to do', async ([, content, message, whatToDo]) => {
  const refused = await harness.refusal(typeof content === 'string' ? content : Buffer.from(content))

  expect(refused.message).toMatch(message)
  expect(refused.whatToDo).toMatch(whatToDo)
  expect(`${refused.message} ${refused.whatToDo}`).not.toContain('ada@')
})

test('refuses a file that is not there, and a directory', async () => {
  const options = [OPTIONS, { signal: NEVER }] as const
  await expect(stageImport(harness.store, '/nowhere/file.csv', ...options)).rejects.toThrow(
    'There is no file',
  )
  await expect(stageImport(harness.store, '/tmp', ...options)).rejects.toThrow('is a directory')
})

test('a file of only a header has no rows, and a warning', async () => {
  const staged = await harness.stage('email,all\n')

  expect(staged.summary).toMatchObject({ read: 0, pending: 0, batches: 0 })
  expect(staged.warnings).toEqual([expect.stringContaining('no rows')])
})

test('a file without locales is warned of where there is no default', async () => {
  const staged = await harness.stage('email\nada@example.com\n', { defaultLocale: null })

  expect(staged.summary).toMatchObject({ rejected: 1 })
  expect(staged.warnings).toContainEqual(expect.stringContaining('--default-locale'))
  const wrong = await harness.refusal('email\nada@example.com\n', { defaultLocale: 'xx-YY' })
  expect(wrong.message).toContain('--default-locale xx-YY')
})

test('stdin cannot be two files', async () => {
  const options = { ...OPTIONS, suppress: '-' }
  await expect(stageImport(harness.store, '-', options, { signal: NEVER })).rejects.toThrow('named twice')
})

test('a suppression list with an unknown header is named, with what to do about it', async () => {
  const suppress = await harness.file('Unsubscribed\nada@example.com\n')
  const { message, whatToDo } = await harness.refusal('email\nben@example.com\n', { suppress })
  expect(message).toBe('The suppression list has no column for the recipient; its columns are Unsubscribed.')
  expect(whatToDo).toBe(
    'Call the column recipient in the list, or leave only that column in it, without a header.',
  )
})

test('a file of only bad rows is staged with only rejects', async () => {
  const staged = await harness.stage('email,all\nx,yes\n,yes\na@example.com,maybe\nb@example.com\n')

  expect(staged.summary).toMatchObject({ read: 4, rejected: 4, pending: 0 })
  expect(staged.reasons.map(({ reason }) => reason).sort()).toEqual([
    'no recipient',
    'not an e-mail address',
    'not yes or no',
    'number of fields',
  ])
  expect(staged.warnings).toEqual([expect.stringContaining('No row')])
})

test('200 columns are read by their names, and one that is twice does not matter if nothing is read from it', async () => {
  const columns = Array.from({ length: 200 }, (_, n) => (n === 150 ? 'E-Mail' : `c${n % 190}`))
  const staged = await harness.stage(`${columns.join()}\n${columns.map(() => 'ada@example.com').join()}\n`)

  expect(staged.summary).toMatchObject({ read: 1, pending: 1 })
  expect(staged.file.mapped).toEqual({ recipient: 'E-Mail' })
})

test('a line of 50 MB is rejected, its beginning kept, and the rest goes on', async () => {
  const content = Buffer.concat([
    Buffer.from('email,name\nada@example.com,A\n'),
    Buffer.alloc(50 * 1024 * 1024, 'x'),
    Buffer.from('\nben@example.com,B\n'),
  ])

  const staged = await harness.stage(content)

  expect(staged.summary).toMatchObject({ read: 3, rejected: 1, pending: 2 })
  const [reject] = await harness.rejects()
  expect(reject).toMatchObject({ line: 3, reason: 'line too long' })
  expect(reject?.raw).toBe('x'.repeat(1024))
})

test('a NUL byte, a formula and bad UTF-8 cost their lines', async () => {
  const content = Buffer.concat([
    Buffer.from('email,name\nada@example.com,A\nn\0ul@example.com,B\n=HYPERLINK("http://x"),C\n'),
    Buffer.from('"=HYPERLINK(""http://x"")",D\n'),
    Buffer.from([0xf6, 0x40, 0x62, 0x2e, 0x63, 0x6f, 0x2c, 0x44, 0x0a]),
    Buffer.from('ben@example.com,E\n'),
  ])

  const staged = await harness.stage(content)

  expect((await harness.recipients()).map(({ line }) => line)).toEqual([2, 7])
  expect((await harness.rejects()).map(({ line, reason }) => [line, reason])).toEqual([
    [3, 'NUL byte'],
    [4, 'quotes'],
    [5, 'not an e-mail address'],
    [6, 'not UTF-8'],
  ])
  expect(staged.warnings).toEqual([expect.stringContaining('iconv')])
})

test('a signal to stop ends staging, and nothing stays', async () => {
  const path = await harness.file(`email\n${'ada@example.com\n'.repeat(50_000)}`)
  const stop = new AbortController()
  const staging = stageImport(harness.store, path, OPTIONS, {
    signal: stop.signal,
    onProgress: ({ rows }) => rows > 0 && stop.abort(new Error('told to stop')),
  })

  await expect(staging).rejects.toThrow('told to stop')
  expect(await harness.query('select from ferry.imports')).toEqual([])
})

test('NDJSON is read by its keys, in each row anew', async () => {
  const rows = [
    '{"email": "ada@example.com", "all": true, "locale": "de-DE", "id": 18446744073709551615}',
    '{"all": false, "email": "ben@example.com", "component_ids": ["c1", 2]}',
    '',
    '{"Recipient": "cleo@example.com", "components": "c1,c2"}',
    '{"email": "dan@example.com", ',
    '[1]',
    '{"email": "e\\u0000@example.com", "all": true}',
    '{"email": "\\ud800@example.com", "all": true}',
    '{"email": {"a": 1}, "all": true}',
    '{"all": true}',
    '{"email": "fay@example.com", "all": true, "__proto__": {"all": 1}}',
  ]

  const staged = await harness.stage(`\ufeff ${rows.join('\r\n')}`)

  expect(staged.file).toMatchObject({ format: 'ndjson', delimiter: null, columns: null })
  expect(staged.file.mapped).toMatchObject({ recipient: 'email', all: 'all', component_ids: 'component_ids' })
  expect(staged.file.unused).toEqual(['id', '__proto__'])
  expect(await harness.recipients()).toEqual([
    { line: 1, recipient: 'ada@example.com', all: true, ids: null, locale: 'de-DE' },
    { line: 2, recipient: 'ben@example.com', all: false, ids: ['c1', '2'], locale: 'en-US' },
    { line: 4, recipient: 'cleo@example.com', all: false, ids: ['c1', 'c2'], locale: 'en-US' },
    { line: 11, recipient: 'fay@example.com', all: true, ids: null, locale: 'en-US' },
  ])
  expect((await harness.rejects()).map(({ line, reason }) => [line, reason])).toEqual([
    [5, 'not JSON'],
    [6, 'not JSON'],
    [7, 'not text'],
    [8, 'not text'],
    [9, 'not text'],
    [10, 'no recipient'],
  ])
})

test('component ids beyond 2^53 are exact, in NDJSON and in the lists of a CSV', async () => {
  const ids = ['9007199254740993', '18446744073709551615', '12']
  const rows = [
    `{"email":"a@example.com","component_ids":[${ids.join()}]}`,
    `{"email":"b@example.com","component_ids":9007199254740993}`,
    `{"email":"c@example.com","component_ids":"[${ids.join()}]"}`,
  ]

  await harness.stage(rows.join('\n'))
  expect((await harness.recipients()).map(row => row.ids)).toEqual([ids, ['9007199254740993'], ids])

  await harness.stage(`email,component_ids\nd@example.com,"[${ids.join()}]"\n`)
  expect((await harness.recipients()).at(-1)?.ids).toEqual(ids)

  const components = await harness.file('9007199254740993,big\n9007199254740992,rounded\n')
  await harness.stage('{"email":"e@example.com","component_ids":[9007199254740993]}', { components })
  expect((await harness.recipients()).at(-1)?.ids).toEqual(['big'])
})

test.for([
  '{"email":"a@example.com","Email":"b@example.com"}',
  '{"x":1}\n{"E-Mail":"a@example.com","e_mail":"a@example.com"}',
  '{"email":"a@example.com","Locale":"en-US","locale":"de-DE"}',
])('two keys of a row for one field are refused in NDJSON as in CSV %#', async content => {
  const refused = await harness.refusal(content)

  expect(refused.message).toMatch(/^The file has the column \S+ more than once, and \w+ is read from it\.$/)
  expect(refused.whatToDo).toContain('Rename')
})

test('two names for one field are no such trouble: the better one counts', async () => {
  await harness.stage('{"mail":"a@example.com","Mail":"b@example.com","email":"c@example.com"}')

  expect((await harness.recipients()).map(({ recipient }) => recipient)).toEqual(['c@example.com'])
})
