import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { csvOfRejects } from '#src/imports/reporting/reject-lines.ts'
import { readHeader } from '#src/imports/staging/file/csv-header.ts'
import { fieldsOf } from '#src/imports/staging/file/header.ts'
import { type Block, readBlocks } from '#src/imports/staging/file/lines.ts'
import { rejectsText } from '../rejects-text.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

test.for([
  ['E-Mail;Name, Vorname\nada@example.com;"Lovelace, Ada"\n', ';', {}],
  ['Name; Vorname,Ort; Land,a;b;c,email\nL;A,B;C,x;y;z,ada@example.com\n', ',', {}],
  ['a,b,c,d\tMail\n1,2,3,4\tada@example.com\n', '\t', { recipient: 'Mail' }],
  ['email,note;a;b;c;d\nada@example.com,1;2;3;4;5\n', ',', {}],
  ['locale,all,x;Mail\nx;ada@example.com\n', ';', { recipient: 'Mail' }],
  ['email;locale,x,y\nada@example.com;en-GB,,\n', ';', {}],
] as const)(
  'the delimiter is the one under which the needed columns are found %#',
  async ([content, delimiter, map]) => {
    const staged = await harness.stage(content, { map })

    expect(staged.file.delimiter).toBe(delimiter)
    expect((await harness.recipients()).map(({ recipient }) => recipient)).toEqual(['ada@example.com'])
  },
)

test('with --from, the columns that tell who has confirmed are needed too', async () => {
  const staged = await harness.stage('email,x;email;confirmed\n,;ada@example.com;true\n', {
    from: 'instatus',
  })

  expect(staged.file.delimiter).toBe(';')
  expect(staged.summary.pending).toBe(1)
})

test('a NUL or bad UTF-8 on any line of a header refuses the file, in a dry run too', async () => {
  for (const [bytes, why] of [
    [Buffer.from('"E-Mail","No\nte\0"\nada@example.com,x\n'), /header of a CSV \(NUL byte\)/],
    [
      Buffer.concat([Buffer.from('"E-Mail","No\nt'), Buffer.from([0xe9]), Buffer.from('"\na@b.co,x\n')]),
      /not UTF-8/,
    ],
  ] as const) {
    const refused = await harness.refusal(bytes)
    expect(refused.message).toMatch(why)
    await expect(harness.dryRun(bytes)).rejects.toThrow(why)
  }
})

test('names of columns may have line breaks, and those below them keep their numbers', async () => {
  const staged = await harness.stage('\n"E-\nMail","Com\r\npany"\nada@example.com,"A\nB"\nx,C\n')

  expect(staged.file.mapped).toEqual({ recipient: 'E-\nMail' })
  expect(await harness.recipients()).toMatchObject([{ line: 5, recipient: 'ada@example.com' }])
  expect(await harness.rejects()).toMatchObject([{ line: 7, column: 'E-\nMail' }])
})

test('a header may be longer than what is read at once', async () => {
  const long = Array.from({ length: 3000 }, (_, n) => `"column ${n}\n${'x'.repeat(60)}"`)
  const row = [...long.map(() => ''), 'ada@example.com']

  const staged = await harness.stage(`${[...long, 'email'].join()}\n${row.join()}\n`)

  expect(staged.summary).toMatchObject({ read: 1, pending: 1, rejected: 0 })
  expect((await harness.recipients())[0]?.line).toBe(3002)
})

test('a header is the same however the file comes in', async () => {
  const content = Buffer.from(`sep=;\n\n"E-\nMail";${'"a;\n""b"";";'.repeat(50)}c\nada@example.com\n`)
  const whole = await headerOf(content, content.length)

  for (const chunk of [1, 7, 100]) expect(await headerOf(content, chunk)).toEqual(whole)
  expect(whole).toMatchObject({ delimiter: ';', firstLine: 55 })
  expect(whole.columns).toHaveLength(52)
})

test('a quote that nothing closes is no header, and is not read to the end of the file', async () => {
  const refused = await harness.refusal(`"email,name\n${'ada@example.com,A\n'.repeat(200_000)}`)

  expect(refused.message).toMatch(/header of a CSV \(a lone quote\)/)
})

test.for([
  [
    'email\nada@example.com\n',
    'Mail',
    /^--map recipient=Mail: the file has no column Mail; its columns are email\.$/,
  ],
  [
    '{"email":"ada@example.com"}\n',
    'Mail',
    /^--map recipient=Mail: the file has no column Mail; its columns are email\.$/,
  ],
] as const)(
  'a column named by --map that is not there is named, with those that are %#',
  async ([content, column, message]) => {
    const refused = await harness.refusal(content, { map: { recipient: column } })

    expect(refused.message).toMatch(message)
    expect(refused.whatToDo).toBe('Name one of these: --map recipient=email')
  },
)

test.for([
  ['id,emailaddr,company', 'emailaddr'],
  ['contact_email,mailing_list', 'contact_email'],
  ['ville,courriel,adresse email', "'adresse email'"],
  ['Name,Emial,Country', 'Emial'],
])('of the columns %s the most likely one is proposed', async ([header, column]) => {
  const refused = await harness.refusal(`${header}\na,b,c\n`)
  expect(refused.whatToDo).toBe(`Name the column: --map recipient=${column}`)
})

test('a column whose name has a line break is proposed as it can be typed, and found so', async () => {
  const content = 'Name,"email\nof person"\nAda,ada@example.com\n'

  const refused = await harness.refusal(content)
  expect(refused.message).toContain('its columns are Name, email of person.')
  expect(refused.whatToDo).toContain("--map recipient='email of person'")
  const staged = await harness.stage(content, { map: { recipient: 'email of person' } })
  expect(staged.summary.pending).toBe(1)
})

test('too many columns, and too long a line of them, are refused by their limits', async () => {
  const columns = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`).join()

  expect((await harness.refusal(`email,${columns(4096)}\n`)).message).toMatch(
    /too many columns: .* 4096 at most/,
  )
  expect((await harness.refusal(`${columns(100)}\n`)).message).toMatch(/c18, c19 and 80 more\.$/)
  expect((await harness.refusal(`email,${'x'.repeat(70_000)}\n`)).message).toContain(
    'longer than 65536 bytes',
  )
})

const name = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'B', ' ', ',', ';', '\t', '"', '\n', '\r\n', '=', "'", '-', '{', '[', '1'),
    maxLength: 8,
  }),
  fc.constantFrom(
    '{email}',
    '[x',
    'sep=;',
    'BZhours',
    '%PDF-',
    'name;email;x',
    'a,email,b',
    'line',
    'reason',
    '=x',
    '\ufeffx',
  ),
)

test('a header is not looked for beyond a megabyte', async () => {
  async function* endless(): AsyncGenerator<Block> {
    yield { text: '"', damaged: new Map(), last: false }
    for (let n = 0; n < 20; n++) yield { text: `${'x'.repeat(99_999)}\n`, damaged: new Map(), last: false }
    throw new Error('read beyond a megabyte')
  }

  const found = readHeader(endless(), 'people.csv', fieldsOf(null, {}), null)

  await expect(found).rejects.toThrow('header of a CSV (a lone quote)')
})

test('a file of rejects is known by its last columns, whatever another delimiter would find', async () => {
  const staged = await harness.stage(
    'email,all,locale,x;email;line;reason;message;request_id\n1;ada@example.com;2;r;m;\n',
  )

  expect(staged.file.delimiter).toBe(';')
  expect(staged.summary.pending).toBe(1)
})

test("Ferry's own file of rejects is always readable again, whatever its header holds", async () => {
  const property = fc.asyncProperty(
    fc.array(name, { maxLength: 5 }),
    fc.constantFrom(',', ';', '\t'),
    fc.integer({ min: 0, max: 5 }),
    async (names, delimiter, place) => {
      const columns = names.map(column => column.trim())
      columns.splice(place, 0, 'the address')
      const file = csvOfRejects(columns, delimiter, ['the address'])
      const raw = columns.map(() => 'x').join(delimiter)
      const content =
        file.header + file.lineOf({ line: 2n, reason: 'r', message: 'm', request_id: null, raw })

      const header = await headerOf(Buffer.from(content), 1 << 16, { recipient: 'the address' })

      expect(header.delimiter).toBe(delimiter)
      const added = header.columns.slice(-4).map(column => column.replace(/^ferry_/, ''))
      expect(added).toEqual(['line', 'reason', 'message', 'request_id'])
      expect(header.columns).toHaveLength(columns.length + 4)
    },
  )
  await fc.assert(property, { numRuns: 500 })
})

test.for([
  'E-Mail;Name, Vorname\nx;"A, B"\n',
  '"{mail}",email\n1,x\n',
  '"[a",email\n1,x\n',
  '"a,email,b";email\n1;x\n',
  'email\t"a;email"\nx\t1\n',
  `${Array.from({ length: 4095 }, (_, n) => `c${n}`).join()},email\n${','.repeat(4095)}x\n`,
])('rejects of a file with an odd header can be imported again %#', async content => {
  const staged = await harness.stage(content)
  expect(staged.summary).toMatchObject({ read: 1, rejected: 1 })
  const { text } = await rejectsText(harness.store.pool, staged.import)

  const again = await harness.stage(text)

  expect(again.file.delimiter).toBe(staged.file.delimiter)
  expect(again.file.mapped).toEqual(staged.file.mapped)
  expect(again.summary).toMatchObject({ read: 1, rejected: 1 })
})

async function headerOf(content: Buffer, chunk: number, map = {}) {
  const { rest, head, ...header } = await readHeader(
    readBlocks(chunks(content, chunk)),
    'people.csv',
    fieldsOf(null, map),
    null,
  )
  return header
}

async function* chunks(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

test('a file without the needed column is read by the delimiter under which most fields are found', async () => {
  const refused = await harness.refusal('E-Post;locale;a,b,c,d,e\nada@example.com;en-GB;,,,,\n')
  expect(refused.message).toContain('its columns are E-Post, locale, "a,b,c,d,e".')
})
