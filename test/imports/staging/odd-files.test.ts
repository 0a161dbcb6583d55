import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { stageImport } from '#src/imports/staging/stage.ts'
import { NEVER, OPTIONS } from '../options.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

/*
 * Odd files such as the public collections of test data hold (RFC 4180 and what breaks it, JSON that is and is not),
 * with what becomes of each.
 */

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

/** Of each: the lines whose rows are sent, and the lines rejected with why; or why the file is refused. */
const CSV: Record<
  string,
  { file: string | Buffer; sent?: number[]; rejected?: [number, string][]; refused?: RegExp }
> = {
  'spaces around quotes': {
    file: 'email,note\nada@example.com, "x"\nben@example.com,"x" \n',
    rejected: [
      [2, 'quotes'],
      [3, 'quotes'],
    ],
  },
  'empty cells and rows of nothing but delimiters': {
    file: 'email,a,b\nada@example.com,,\n,,\n"","",""\nben@example.com,"",\n',
    sent: [2, 5],
    rejected: [
      [3, 'no recipient'],
      [4, 'no recipient'],
    ],
  },
  'a trailing delimiter in every row': { file: 'email,\nada@example.com,\nben@example.com,\n', sent: [2, 3] },
  'a trailing delimiter in the rows alone': {
    file: 'email,note\nada@example.com,x,\nben@example.com,y\n',
    sent: [3],
    rejected: [[2, 'number of fields']],
  },
  'CR LF and LF in turns': {
    file: 'email,note\r\nada@example.com,x\nben@example.com,"y\r\nz"\r\ncleo@example.com,\n',
    sent: [2, 3, 5],
  },
  'a lone CR in a cell': { file: 'email,note\nada@example.com,x\ry\nben@example.com,"x\ry"\n', sent: [2, 3] },
  'lines of blanks': {
    file: 'email\n\n  \nada@example.com\n\t\n',
    sent: [4],
    rejected: [
      [3, 'no recipient'],
      [5, 'no recipient'],
    ],
  },
  'quotes doubled at both ends': {
    file: 'email,note\nada@example.com,"""x"""\nben@example.com,""""\ncleo@example.com,""\n',
    sent: [2, 3, 4],
  },
  'quotes escaped with a backslash': {
    file: 'email,note\nada@example.com,"he \\"said\\" so"\nben@example.com,x\n',
    sent: [3],
    rejected: [[2, 'quotes']],
  },
  'single quotes for double ones': {
    file: "email,note\n'ada@example.com','x'\nben@example.com,'x,y'\n",
    rejected: [
      [2, 'not an e-mail address'],
      [3, 'number of fields'],
    ],
  },
  comments: {
    file: '# exported today\nemail\nada@example.com\n',
    refused: /The file has no column for the recipient/,
  },
  'a header and nothing else, not even its line break': { file: 'email', sent: [] },
  'a header alone with a quote': { file: '"email"', sent: [] },
  'a byte order mark before a quote': { file: '\ufeff"email","note"\nada@example.com,x\n', sent: [2] },
  'two byte order marks': { file: '\ufeff\ufeffemail,note\nada@example.com,x\n', sent: [2] },
  'a byte order mark in the middle, as joined files have': {
    file: 'email\nada@example.com\n\ufeffemail\n\ufeffben@example.com\n',
    sent: [2, 4],
    rejected: [[3, 'not an e-mail address']],
  },
  'a line separator of Unicode, which ends no line': {
    file: 'email,note\nada@example.com,x\u2028y\u0085z\n',
    sent: [2],
  },
  'a form feed and a vertical tab': {
    file: `email,note\n\u000cada@example.com\u000b,${'x'.repeat(60)}\n`,
    sent: [2],
  },
  'the control Z of DOS at the end': {
    file: 'email\nada@example.com\n\u001a',
    sent: [2],
    rejected: [[3, 'unreadable recipient']],
  },
  'a no-break space around an address': { file: 'email\n\u00a0ada@example.com\u00a0\n', sent: [2] },
  'a sum in the last line': {
    file: 'email,n\nada@example.com,1\nTotal,1\n',
    sent: [2],
    rejected: [[3, 'not an e-mail address']],
  },
  'one column, quoted, with commas in it': {
    file: '"email"\n"ada@example.com"\n"ben@example.com,"\n',
    sent: [2, 3],
  },
  'numbers of columns that vary': {
    file: 'email,a,b\nada@example.com\nben@example.com,1\ncleo@example.com,1,2\ndan@example.com,1,2,3\n',
    sent: [4],
    rejected: [
      [2, 'number of fields'],
      [3, 'number of fields'],
      [5, 'number of fields'],
    ],
  },
  'overlong and half UTF-8': {
    file: Buffer.concat([
      Buffer.from('email,note\nada@example.com,'),
      Buffer.from([0xc0, 0xaf, 0x0a]),
      Buffer.from('ben@example.com,'),
      Buffer.from([0xed, 0xa0, 0x80, 0x0a]),
      Buffer.from('cleo@example.com,é\n'),
      Buffer.from('dan@example.com,'),
      Buffer.from([0xf0, 0x9f, 0x98]),
    ]),
    sent: [4],
    rejected: [
      [2, 'not UTF-8'],
      [3, 'not UTF-8'],
      [5, 'not UTF-8'],
    ],
  },
}

test.for(Object.entries(CSV))('CSV with %s', async ([, { file, sent = [], rejected = [], refused }]) => {
  if (refused) {
    expect((await harness.refusal(file)).message).toMatch(refused)
    return
  }
  await harness.stage(file)

  expect((await harness.recipients()).map(({ line }) => line)).toEqual(sent)
  expect((await harness.rejects()).map(({ line, reason }) => [line, reason])).toEqual(rejected)
})

/** Lines of NDJSON: those that are one JSON object, and what becomes of their row. */
const SENT = [
  '{"email":"a@example.com"}',
  ' {\t"email" : "a@example.com" , "x":[1,[2,{"y":null}]]}  ',
  '{"\\u0065mail":"a@example.com"}',
  '{"email":"\\u0061@example.com"}',
  '{"email":"a@example.com","x":-0,"y":1E400,"z":1e-400,"w":123456789012345678901234567890}',
  '{"email":"a@example.com","":1,"__proto__":{"email":"b@example.com"},"constructor":null}',
  '{"email":"a@example.com","x":"\\ud83d\\ude00 \\u0000 \\ud800"}',
  '{"email":"a@example.com","x":"\u007f\u2028\u2029"}',
  `{"email":"a@example.com","x":${'['.repeat(500)}${']'.repeat(500)}}`,
  '{"email":"a@example.com","all":null,"component_ids":null,"locale":null}',
]
const NOT_JSON = [
  '{"email":"a@example.com",}',
  '{"email":"a@example.com"}}',
  '{"email":"a@example.com"} {"email":"b@example.com"}',
  '{"email":"a@example.com"}#',
  "{'email':'a@example.com'}",
  '{email:"a@example.com"}',
  '{"email":"a@example.com","x":01}',
  '{"email":"a@example.com","x":+1}',
  '{"email":"a@example.com","x":.5}',
  '{"email":"a@example.com","x":1.}',
  '{"email":"a@example.com","x":NaN}',
  '{"email":"a@example.com","x":Infinity}',
  '{"email":"a@example.com","x":0x1F}',
  '{"email":"a@example.com","x":"\\x41"}',
  '{"email":"a@example.com","x":"\\u12"}',
  '{"email":"a@example.com","x":"\t"}',
  '{"email":"a@example.com","x":"}',
  '{"email":"a@example.com" // comment }',
  '{"email"}',
  '{"email":}',
  '{',
  '[{"email":"a@example.com"}]',
  '"a@example.com"',
  'null',
  'true',
  '1',
  '\u00a0{"email":"a@example.com"}',
]
const REJECTED: [string, string][] = [
  ['{"email":["a@example.com"]}', 'not text'],
  ['{"email":{"address":"a@example.com"}}', 'not text'],
  ['{"email":"a@\\ud800example.com"}', 'not text'],
  ['{"email":null}', 'no recipient'],
  ['{"email":true}', 'not an e-mail address'],
  ['{"email":12}', 'not an e-mail address'],
  ['{"email":""}', 'no recipient'],
  ['{}', 'no recipient'],
  ['{"email":"a@example.com","all":"perhaps"}', 'not yes or no'],
  ['{"email":"a@example.com","all":[]}', 'not yes or no'],
  ['{"email":"a@example.com","component_ids":[[]]}', 'not components'],
  ['{"email":"a@example.com","component_ids":[null]}', 'not components'],
  ['{"email":"a@example.com","component_ids":[true]}', 'not components'],
  ['{"email":"a@example.com","component_ids":[1.5]}', 'not components'],
  ['{"email":"a@example.com","component_ids":1.5}', 'not components'],
]

test('lines of NDJSON are rows, rejects or no JSON, each on its own', async () => {
  const lines = [...SENT, ...NOT_JSON, ...REJECTED.map(([line]) => line)]
  const unlike = lines.map((line, n) =>
    line.replaceAll('a@example.com', `a${n}@example.com`).replace('"\\u0061@', `"\\u0061${n}@`),
  )

  await harness.stage(`{"email":"first@example.com"}\n${unlike.join('\n')}\n`)

  expect((await harness.recipients()).map(({ line }) => line)).toEqual([1, ...SENT.map((_, n) => n + 2)])
  const reasons = (await harness.rejects()).map(({ line, reason }) => [unlike[line - 2], reason])
  expect(reasons).toEqual([
    ...NOT_JSON.map((_, n) => [unlike[SENT.length + n], 'not JSON']),
    ...REJECTED.map(([, reason], n) => [unlike[SENT.length + NOT_JSON.length + n], reason]),
  ])
})

test('of NDJSON, just the lines are rejected that are not UTF-8, hold a NUL byte or are too long', async () => {
  const line = (name: string, more = '') => `{"email":"${name}@example.com"${more}}\n`
  await harness.stage(
    Buffer.concat([
      Buffer.from(line('ada')),
      Buffer.from(line('ben', ',"name":"B\xe9n"'), 'latin1'),
      Buffer.from(line('cleo')),
      Buffer.from(line('dan', ',"name":"\0"')),
      Buffer.from(line('eve')),
      Buffer.from(line('fay', `,"name":"${'f'.repeat(70_000)}"`)),
      Buffer.from(line('gus')),
    ]),
  )

  expect((await harness.recipients()).map(({ line }) => line)).toEqual([1, 3, 5, 7])
  expect((await harness.rejects()).map(({ line, reason }) => [line, reason])).toEqual([
    [2, 'not UTF-8'],
    [4, 'NUL byte'],
    [6, 'line too long'],
  ])
})

test('the command that converts a file quotes a name that a shell would take for several words', async () => {
  const path = await harness.file('[{"email":"ada@example.com"}]', 'all people.json')
  const written = path.replace('.json', '.ndjson')

  await expect(stageImport(harness.store, path, OPTIONS, { signal: NEVER })).rejects.toMatchObject({
    whatToDo: `Convert it: jq -c '.[]' '${path}' > '${written}'`,
  })
})
