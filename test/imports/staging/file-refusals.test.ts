import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { fieldsOf } from '#src/imports/staging/file/header.ts'
import { openFile } from '#src/imports/staging/file/rows.ts'
import { type Compression, compressionOf, unpacked } from '#src/imports/staging/file/unpack.ts'
import { FileRefused } from '#src/imports/staging/file-refused.ts'
import { PRESETS, type PresetName } from '#src/imports/staging/presets/presets.ts'

/* All that is said of a file that cannot be read: why, and the command that helps, which a person copies. */

const TWO = 'email\nada@example.com\nben@example.com\n'
const JSON_ARRAY = '[{"email":"ada@example.com"}]'
const JSON_DOCUMENT = '{\n "data": []\n}'
const MAC_LINES = 'email\rada@example.com\r'
const WIDE = Buffer.from(TWO, 'utf16le')

type Said = readonly [message: string, whatToDo: string]
type Asked = { readonly map?: Record<string, string>; readonly from?: PresetName; readonly name?: string }

async function refusalOf(content: string | Buffer, { map = {}, from, name }: Asked = {}): Promise<Said> {
  const preset = from === undefined ? null : PRESETS[from]
  const source = {
    name: name ?? 'people.csv',
    compression: 'none' as const,
    totalBytes: null,
    bytesRead: () => 0,
    content: whole(Buffer.from(content as string)),
    expectUnchanged: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
  const sink = { row: () => {}, faultOf: () => null, damaged: () => {} }
  const reading = async () => {
    const file = await openFile(source, fieldsOf(preset, map), preset)
    await file.readRows(sink, async () => {})
  }
  return said(reading())
}

async function said(reading: Promise<unknown>): Promise<Said> {
  const error = await reading.then(
    () => new Error('it was read'),
    error => error,
  )
  if (!(error instanceof FileRefused)) throw error
  return [error.message, error.whatToDo]
}

async function* whole(content: Buffer): AsyncGenerator<Buffer> {
  if (content.length > 0) yield content
}

const csv = (why: string, whatToDo: string): Said => [
  `people.csv does not begin with the header of a CSV (${why}).`,
  whatToDo,
]
const NAMES = 'The first line names the columns, separated by commas, semicolons or tabs.'
const wide = (encoding: string): Said => [
  `people.csv is ${encoding} text; Ferry reads UTF-8.`,
  `Convert it: iconv -f ${encoding} -t UTF-8 people.csv > utf8.csv`,
]
const noColumn = (columns: string, near: string): Said => [
  `The file has no column for the recipient; its columns are ${columns}.`,
  `Name the column: --map recipient=${near}`,
]
const RENAME = 'Rename all but one of them in the file.'
const EMPTY: Said = ['people.csv is empty.', 'Check that the export is complete.']
const NO_TEXT: Said = ['people.csv is not text.', 'Export the subscribers as CSV or NDJSON, in UTF-8.']
const columns = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`).join()

test.each<[string, string | Buffer, Said]>([
  ['UTF-16 with a mark', Buffer.from(`\ufeff${TWO}`, 'utf16le'), wide('UTF-16')],
  ['UTF-16 without one', WIDE, wide('UTF-16LE')],
  ['UTF-16 of the other order', Buffer.from(WIDE).swap16(), wide('UTF-16BE')],
  ['UTF-32', Buffer.from('fffe00006500000061000000', 'hex'), wide('UTF-32')],
  ['binary garbage', Buffer.from(Array.from({ length: 999 }, (_, n) => (n * 7919) % 256)), NO_TEXT],
  [
    'an Excel file',
    Buffer.from('PK\x03\x04 and more'),
    [
      'people.csv is an Excel or zip file, not text.',
      'Save the sheet as "CSV UTF-8", or unpack it first: unzip -p FILE | ferry import -',
    ],
  ],
  [
    'an old Excel file',
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    ['people.csv is an old Excel file, not text.', 'Save the sheet as "CSV UTF-8".'],
  ],
  [
    'a bzip2 file',
    Buffer.from('425a6839314159265359', 'hex'),
    ['people.csv is a bzip2 file, not text.', 'bzip2 -dc FILE | ferry import -'],
  ],
  [
    'an xz file',
    Buffer.from('fd377a585a000004', 'hex'),
    ['people.csv is an xz file, not text.', 'xz -dc FILE | ferry import -'],
  ],
  ['a PDF file', '%PDF-1.7\n', ['people.csv is a PDF file, not text.', 'Export the subscribers as CSV.']],
  ['nothing', '', EMPTY],
  ['blank lines', '\n\n \n', EMPTY],
  [
    'two columns of one name',
    'email,Email\na,b\n',
    ['The header has the column email more than once, and recipient is read from it.', RENAME],
  ],
  [
    'two keys of one name',
    '{"email":"a","Email":"b"}\n',
    ['The file has the column Email more than once, and recipient is read from it.', RENAME],
  ],
  [
    'no header',
    'ada@example.com,yes\n',
    [
      'The first line of people.csv contains an address: the file has no header.',
      "Put the names of its columns above it, (echo 'email'; cat FILE) > named.csv, and give that file instead.",
    ],
  ],
  [
    'a header in Latin-1',
    Buffer.from('Pr\u00e9nom,email\n', 'latin1'),
    [
      'The header of people.csv is not UTF-8 text.',
      'Convert the file, from Latin-1 say: iconv -f ISO-8859-1 -t UTF-8 FILE > utf8.csv',
    ],
  ],
  ['a lone quote', '"email,name\nada,x\n', csv('a lone quote', NAMES)],
  ['a long line', `email,${'x'.repeat(70_000)}\n`, csv('a line is longer than 65536 bytes', NAMES)],
  ['a NUL', `email,name${' '.repeat(90)}\0\n`, csv('NUL byte', NAMES)],
  [
    'rows in its header',
    'email,"note\nada@example.com,hi\nben@example.com,12"\n',
    csv('a quote in it encloses rows', 'Correct that quote, and write each name in one line.'),
  ],
  [
    'too many columns',
    `email,${columns(4096)}\n`,
    [
      'people.csv has too many columns: a header has 4096 at most.',
      'Export it again with fewer columns: those with the recipient, the components and the locale will do.',
    ],
  ],
  ['no recipients', 'Name,Mailadress\n', noColumn('Name, Mailadress', 'Mailadress')],
  ['no recipients in NDJSON', '{"x":1}\n', noColumn('x', 'x')],
  ['somebody in its header', '123456789,b\n', noColumn('(an address), b', 'b')],
  ['odd names', '"a,b", ,c\n', noColumn('"a,b", (no name), c', "'a,b'")],
  ['many names', `${columns(25)}\n`, noColumn(`${columns(20).replaceAll(',', ', ')} and 5 more`, 'c0')],
  ['a long name', `${'n'.repeat(80)},c\n`, noColumn(`${'n'.repeat(60)}, c`, 'n'.repeat(80))],
  [
    'columns separated by |',
    'email|name\n',
    [
      'The file has no column for the recipient: they seem to be separated by |.',
      'Export it again, or convert it: Ferry reads columns separated by comma, semicolon or tab.',
    ],
  ],
  ['no JSON object', '{"a":\n', ['No line of people.csv is a JSON object.', 'Write one JSON object a line.']],
])('a file that has %s is refused in whole words', async (_what, content, expected) => {
  expect(await refusalOf(content)).toEqual(expected)
})

test.each<[string, string, string]>([
  ['stdin', 'file', 'file'],
  ['a/people.json', 'a/people.json', 'a/people'],
  ['of Ada.csv', "'of Ada.csv'", "'of Ada.csv"],
])('the command that converts a file names it as a shell needs it: %s', async (name, given, stem) => {
  const [csvName, jsonName] = name === 'stdin' ? ['file.csv', 'file.json'] : [given, given]
  const ndjson = stem.startsWith("'") ? `${stem}.ndjson'` : `${stem}.ndjson`
  expect(await refusalOf(JSON_ARRAY, { name })).toEqual([
    `${name} is a JSON array; Ferry reads one JSON object a line (NDJSON).`,
    `Convert it: jq -c '.[]' ${jsonName} > ${ndjson}`,
  ])
  expect(await refusalOf(JSON_DOCUMENT, { name })).toEqual([
    `${name} is one JSON document over several lines; Ferry reads one JSON object a line.`,
    `Write one row a line, here the rows under "data": jq -c '.data[]' ${jsonName} > ${ndjson}`,
  ])
  expect(await refusalOf(MAC_LINES, { name })).toEqual([
    `The lines of ${name} end with a lone carriage return.`,
    `Convert it: tr '\\r' '\\n' < ${csvName} > lines.csv`,
  ])
  expect(await refusalOf(WIDE, { name })).toEqual([
    `${name} is UTF-16LE text; Ferry reads UTF-8.`,
    `Convert it: iconv -f UTF-16LE -t UTF-8 ${csvName} > utf8.csv`,
  ])
})

test('the command that converts a packed file unpacks it', async () => {
  const commandOf = async (content: string | Buffer, name: string) => (await refusalOf(content, { name }))[1]
  expect([
    await commandOf(JSON_ARRAY, 'people.json.gz'),
    await commandOf(JSON_DOCUMENT, 'people.json.zst'),
    await commandOf(MAC_LINES, 'of Ada.csv.gz'),
    await commandOf(WIDE, 'people.csv.zst'),
  ]).toEqual([
    "Convert it: gzip -dc people.json.gz | jq -c '.[]' > people.ndjson",
    `Write one row a line, here the rows under "data": zstd -dc people.json.zst | jq -c '.data[]' > people.ndjson`,
    "Convert it: gzip -dc 'of Ada.csv.gz' | tr '\\r' '\\n' > lines.csv",
    'Convert it: zstd -dc people.csv.zst | iconv -f UTF-16LE -t UTF-8 > utf8.csv',
  ])
})

test('what was named with an option is said with the option', async () => {
  expect(await refusalOf('Email Adr,x\n', { map: { recipient: 'Mail' } })).toEqual([
    '--map recipient=Mail: the file has no column Mail; its columns are Email Adr, x.',
    "Name one of these: --map recipient='Email Adr'",
  ])
  expect(await refusalOf('email\n', { map: { recipent: 'x' } })).toEqual([
    '--map: "recipent" is not a field; did you mean recipient?',
    'The fields are recipient, all, component_ids, locale.',
  ])
  expect(await refusalOf('email\n', { from: 'betterstack' })).toEqual([
    'This does not look like an export of Better Stack: it has no column confirmed_at.',
    'Leave out --from, or name the column that holds it with --map confirmed_at=COLUMN.',
  ])
})

/** A block of a type that there is none of. */
const UNKNOWN_BLOCK = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x01, 0x07, 0, 0])
const PACKED = zstdCompressSync(TWO.repeat(50))

test.each<[string, Buffer, string]>([
  ['is cut', PACKED.subarray(0, 30), 'it ends inside a frame'],
  ['has text after it', Buffer.concat([PACKED, Buffer.from('email\n')]), 'other data follows the last frame'],
  ['has two bytes after it', Buffer.concat([PACKED, Buffer.alloc(2)]), 'other data follows the last frame'],
  ['has an unknown block', Buffer.concat([PACKED, UNKNOWN_BLOCK]), 'a block in it has an unknown type'],
])('zstd data that %s is refused in whole words', async (_what, packed, why) => {
  const compression = compressionOf(packed) as Exclude<Compression, 'none'>
  const reading = async () => {
    for await (const _ of unpacked(whole(packed), compression, 'people.zst'));
  }
  expect(await said(reading())).toEqual([
    `The zstd data of people.zst is damaged or cut off (${why}): nothing was stored.`,
    'Fetch the file again; `zstd --test` checks whether it is complete.',
  ])
})
