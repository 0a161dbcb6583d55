import { expect, test } from 'vitest'
import { CsvReader } from '#src/imports/staging/file/csv.ts'
import { isAddress, readCsv } from './read-csv.ts'

test('a lone quote in line 3 of 100,000 costs line 3', async () => {
  const lines = Array.from({ length: 100_000 }, (_, n) => `p${n}@example.com,yes`)
  lines[2] = '"lone@example.com,yes'

  const read = await readCsv(lines.join('\n'))

  expect(read.damaged).toEqual([{ line: 3, reason: 'quotes', raw: '"lone@example.com,yes' }])
  expect(read.rows).toHaveLength(99_999)
})

test('a lone quote that a later lone quote closes costs both lines and none between them', async () => {
  const lines = Array.from({ length: 1000 }, (_, n) => `p${n}@example.com,yes`)
  lines[2] = '"lone@example.com,yes'
  lines[500] = 'p500@example.com,yes"'

  const read = await readCsv(lines.join('\n'))

  expect(read.damaged.map(({ line }) => line)).toEqual([3, 501])
  expect(read.rows).toHaveLength(998)
})

test('a quote closed only after 64 KiB is a lone quote: what it would enclose is read', async () => {
  const lines = Array.from({ length: 10_000 }, (_, n) => `p${n}@example.com,yes`)
  lines[2] = '"lone@example.com,yes'
  lines[9000] = 'last",yes'

  for (const chunk of [500, 1 << 20]) {
    const read = await readCsv(lines.join('\n'), { chunk })

    expect(read.damaged.map(({ line, reason }) => [line, reason])).toEqual([
      [3, 'quotes'],
      [9001, 'quotes'],
    ])
    expect(read.rows).toHaveLength(9998)
  }
})

/** A check as that of subscribers: the first cell is an address. */

test('a record over several lines that fails a check is one reject, whatever its lines look like', async () => {
  const content =
    'ada@example.com,"two\nlines"\n' +
    '(none),"Asked to be removed, contact instead:\nboss@corp.example, assistant\nthanks"\n' +
    '"a\nb@example.com,2\nc@example.com,3\n",4\n' +
    'ben@example.com,5\n'

  const read = await readCsv(content, { accept: isAddress })

  expect(read.rows.map(row => [row.line, row.values])).toEqual([
    [1, ['ada@example.com', 'two\nlines']],
    [10, ['ben@example.com', '5']],
  ])
  expect(read.damaged).toEqual([
    {
      line: 3,
      reason: 'check',
      raw: '(none),"Asked to be removed, contact instead:\nboss@corp.example, assistant\nthanks"',
    },
    { line: 6, reason: 'check', raw: '"a\nb@example.com,2\nc@example.com,3\n",4' },
  ])
})

test.for([
  ['too many fields', '(none),x,"ask\nboss@corp.example,assistant\nthanks"', 'number of fields'],
  ['text after its quote', '(none),"ask\nboss@corp.example,assistant\nthanks" x', 'quotes'],
  ['a NUL on its second line', 'ada@example.com,"a\0sk\nboss@corp.example,assistant\nthanks"', 'NUL byte'],
  [
    'damage on its second line',
    'ada@example.com,"ask\nin\0stead:\nboss@corp.example,assistant\n"',
    'NUL byte',
  ],
  ['no end', '(none),"ask\nboss@corp.example,assistant', 'quotes'],
  [
    'a list of contacts',
    `(none),"former team:\n${'boss@corp.example,assistant\n'.repeat(8)}thanks"`,
    'check',
  ],
  [
    'too many fields, and lines with as many commas as rows',
    `(none),x,"${'it was said,and heard\n'.repeat(6)}boss@corp.example,assistant\nthanks"`,
    'number of fields',
  ],
  [
    'a damaged line among its contacts',
    `(none),"ask\n${'boss@corp.example,assistant\n'.repeat(2)}bo\0ss@corp.example,assistant\nthanks"`,
    'NUL byte',
  ],
  [
    'too many fields, and contacts among its lines',
    `(none),x,"${'as we said:\nboss@corp.example,assistant\n'.repeat(6)}thanks"`,
    'number of fields',
  ],
] as const)('no line of a record over several lines with %s becomes a row', async ([, record, reason]) => {
  const content = `${record}\n`
  for (const chunk of [1, 30, 1 << 16]) {
    const read = await readCsv(content, { accept: isAddress, chunk })

    expect(read.rows).toEqual([])
    expect(read.damaged).toEqual([{ line: 1, reason, raw: record }])
  }
})

test.for([
  ['backslashes before them', '"removed","she said: \\"stop\\"\nboss@corp.example,thanks\nbye"'],
  ['none of them doubled', '(none),"He said "hello"\nboss@corp.example,assistant\nthanks"'],
  ['one that ends no line', '(none),"was 5\'11" tall\nboss@corp.example,assistant\nthanks"'],
  ['three of them', '(none),"note "stop" and\nboss@corp.example,assistant\nthanks"'],
  ['bad ones below its first line', '(none),"first\nHe said "hello"\nboss@corp.example,x\nthanks"'],
  ['others around somebody', '(none),"first\nboss@corp.example,"assistant"\nthanks"'],
  ['words over two lines', '(none),"He said "hello"\n"stop\nnow", ok\nboss@corp.example,x\nthanks"'],
  ['the last one on a line of its own', '(none),"He said "hello"\nboss@corp.example,assistant\n"'],
  [
    'one inside a cell that begins with none',
    '(none),note "forward to\nboss@corp.example,assistant\nthanks"',
  ],
] as const)('no line of a note whose quotes are bad becomes a row: %s', async ([, record]) => {
  for (const newline of ['\n', '\r\n']) {
    const raw = record.replaceAll('\n', newline)
    for (const after of [['ben@example.com'], []]) {
      // The last line of a file may have no end.
      const content = ['ada@example.com,1', raw, ...after.map(person => `${person},2${newline}`)].join(
        newline,
      )
      for (const chunk of [1, 30, 1 << 16]) {
        const read = await readCsv(content, { accept: isAddress, chunk })

        expect(read.rows.map(({ values }) => values[0])).toEqual(['ada@example.com', ...after])
        expect(read.damaged).toEqual([{ line: 2, reason: 'quotes', raw }])
      }
    }
  }
})

test('bad quotes cost their line where rows follow, a note of several lines or another bad quote too', async () => {
  const bad = 'carol@example.com,"Carol ""the quote" Danvers'
  const rows = ['p1@example.com,x', 'p2@example.com,x', 'p3@example.com,x']
  for (const [after, people] of [
    [['ben@example.com,x'], 1],
    [['ben@example.com,"a\nb"', 'dan@example.com,"x"'], 2],
    [['ben@example.com,x', 'dave@example.com,"Dave never closed', ...rows], 4],
    [['ben@example.com,x', 'eve@example.com,"5\'11" tall"', 'fay@example.com,x'], 2],
    [[...rows, 'x@example.com,5\'11"', 'ben@example.com,x'], 4],
  ] as const) {
    const read = await readCsv([bad, ...after].join('\n'), { accept: isAddress })

    expect(read.damaged[0]).toEqual({ line: 1, reason: 'quotes', raw: bad })
    expect(read.rows).toHaveLength(people)
  }
})

test('bad quotes in every line of a long file are read in one pass', async () => {
  const content = 'ada@example.com,"5\'11" tall\n'.repeat(100_000)

  const read = await readCsv(content, { accept: isAddress })

  expect(read.damaged).toHaveLength(100_000)
})

test('a note that goes on beyond 64 KiB is one reject up to there', async () => {
  const note = 'what was said at length\n'
  const content = `(none),"ask\nboss@corp.example,assistant\n${note.repeat(3000)}",\n${'ben@example.com,5\n'.repeat(12)}`
  for (const chunk of [100, 1 << 20]) {
    const read = await readCsv(content, { accept: isAddress, chunk })

    expect(read.rows.map(({ values }) => values[0])).toEqual(Array(12).fill('ben@example.com'))
    expect(read.damaged[0]).toMatchObject({ line: 1, reason: 'quotes' })
    expect(read.damaged[0]?.raw.length).toBeGreaterThan(65_000)
    expect(read.damaged[0]?.raw.length).toBeLessThan(65_537)
  }
})

test('a record that goes on in the next part of a file is whole, however long the parts are', async () => {
  const rows = Array.from({ length: 30_000 }, (_, n) => `p${n}@example.com,"first\nsecond"\n`)
  const read = await readCsv(rows.join(''), { chunk: 150_001 })
  expect(read.damaged).toEqual([])
  expect(read.rows).toHaveLength(30_000)
})

test('an open quote is waited for no longer than 64 KiB', () => {
  const damaged: number[] = []
  const sink = { row() {}, faultOf: () => null, damaged: (line: number) => damaged.push(line) }
  const reader = new CsvReader({ delimiter: ',', width: 2, columns: [0, 1] }, 1, sink)
  const block = (text: string) => reader.read({ text, damaged: new Map(), last: false })

  block('"ask\n')
  for (let bytes = 0; bytes < 64 * 1024; bytes += 1024) block(`${'x'.repeat(1023)}\n`)
  expect(damaged[0]).toBe(1)
})

test('a lone quote that swallowed rows costs its line, wherever it closes', async () => {
  const rows = Array.from({ length: 12 }, (_, n) => `p${n}@example.com,yes`)
  for (const end of ['last@example.com,yes"', 'last",yes', '"last@example.com",yes', '', 'last,"x" y']) {
    const content = ['ada@example.com,yes', '"lone@example.com,yes', ...rows, end].join('\n')
    const read = await readCsv(content, { accept: isAddress })

    expect(read.damaged[0]).toEqual({ line: 2, reason: 'quotes', raw: '"lone@example.com,yes' })
    expect(read.rows.map(({ line }) => line).slice(0, 13)).toEqual([1, ...rows.map((_, n) => n + 3)])
  }
})

test('a quote that nothing closes is told once it is too long, not at the end of the file', () => {
  const told: number[] = []
  const reader = new CsvReader({ delimiter: ',', width: 2, columns: [0, 1] }, 1, {
    row: line => told.push(line),
    faultOf: () => null,
    damaged: line => told.push(line),
  })
  const lines = 'an,address\n'.repeat(8_000)
  reader.read({ text: `"open,row\n${lines}`, damaged: new Map(), last: false })
  // 88 kB after the quote: nobody waits for what may close it. What comes after its line are rows.
  expect(told[0]).toBe(1)
  expect(told.length).toBeGreaterThan(8_000)
})

test('a note that holds ten rows is a lone quote and rows, one that holds nine is a note', async () => {
  const withRows = (count: number) =>
    readCsv(`(none),"former team:\n${'boss@corp.example,assistant\n'.repeat(count)}thanks"\n`, {
      accept: isAddress,
    })
  expect((await withRows(9)).rows).toEqual([])
  expect((await withRows(10)).rows.map(({ line }) => line)).toEqual(
    Array.from({ length: 10 }, (_, n) => n + 2),
  )
})
