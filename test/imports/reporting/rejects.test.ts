import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { confirmImport } from '#src/imports/control/decide.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { RejectsNotSaved, saveRejects, writeRejects } from '#src/imports/reporting/rejects.ts'
import { ADA } from '#test/support/acted-by.ts'
import { refused, sendAll, sendBatches } from '#test/support/scripted-worker.ts'
import { rejectsText } from '../rejects-text.ts'
import { openStagingHarness, type StagingHarness } from '../staging/staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

const CONTENT =
  'name,email,locale\n' +
  '"Ada, A","=HYPERLINK(""http://x"")",en-US\n' +
  "+49151,'=x,en-US\n" +
  'Ben,ben@example.com,xx-YY\n' +
  'Cleo,cleo@example.com,en-US\n' +
  'Dan,dan@example.com\n'

test('has the columns of the file and ours, and none of its cells runs in a spreadsheet', async () => {
  const staged = await harness.stage(CONTENT)

  const { text, rows } = await rejectsOf(staged.import)

  expect(rows).toBe(4)
  expect(parse(text)).toEqual([
    ['name', 'email', 'locale', 'line', 'reason', 'message', 'request_id'],
    ['Ada, A', `'=HYPERLINK("http://x")`, 'en-US', '2', 'not an e-mail address', expect.any(String), ''],
    ["'+49151", "''=x", 'en-US', '3', 'not an e-mail address', expect.any(String), ''],
    ['Ben', 'ben@example.com', 'xx-YY', '4', 'not a locale', expect.any(String), ''],
    ['Dan,dan@example.com', '', '', '6', 'number of fields', expect.any(String), ''],
  ])
})

test('can be imported again, and again: the cells are those of the file', async () => {
  const first = await harness.stage(CONTENT)
  const { text } = await rejectsOf(first.import)

  const second = await harness.stage(text)

  expect(second.file.unused).toEqual(['name'])
  expect(second.warnings).toEqual(['No row of the file will be sent.'])
  const again = await rejectsOf(second.import)
  const cells = (csv: string) => parse(csv, { from_line: 2 }).map(row => row.slice(0, 3))
  expect(cells(again.text)).toEqual(cells(text))
  expect(again.text.split('\n', 1)).toEqual(['name,email,locale,line,reason,message,request_id'])

  const corrected = await harness.stage(text.replace('xx-YY', 'de-DE').replace("''=x", "'+1@example.com"))
  expect(corrected.summary).toMatchObject({ read: 4, pending: 2 })
  const sent = await harness.query(
    `select recipient from ferry.import_recipients where import_id = ${corrected.import} order by line`,
  )
  expect(sent).toEqual([{ recipient: '+1@example.com' }, { recipient: 'ben@example.com' }])
})

test('an id that a spreadsheet would run as a formula is the same after a correction', async () => {
  const first = await harness.stage('email,components,locale\nada@example.com,-c1,xx-YY\n', { all: false })
  const { text } = await rejectsOf(first.import)
  expect(text).toContain("ada@example.com,'-c1,xx-YY")
  await harness.stage(text.replace('xx-YY', 'de-DE'), { all: false })
  expect(await harness.recipients()).toMatchObject([{ recipient: 'ada@example.com', ids: ['-c1'] }])
})

test('of an NDJSON file it is NDJSON, which can be imported again', async () => {
  const staged = await harness.stage(
    '{"email": "x", "id": 18446744073709551615}\n{"email": "ben@example.com", "all": "maybe"}\n{}\nnot json\n',
  )

  const { text } = await rejectsOf(staged.import)

  const lines = text.trim().split('\n')
  expect(lines[0]).toMatch(/^\{"email": "x", "id": 18446744073709551615,"line":1,/)
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ email: 'ben@example.com', line: 2, request_id: null })
  expect(JSON.parse(lines[2] ?? '')).toMatchObject({ line: 3, reason: 'no recipient' })
  expect(JSON.parse(lines[3] ?? '')).toMatchObject({ raw: 'not json', reason: 'not JSON' })
  const again = await harness.stage(text.replace('"maybe"', '"yes"'))
  expect(again.summary).toMatchObject({ read: 4, pending: 1, rejected: 3 })
  expect(again.file.unused).toEqual(['id'])
  const third = await rejectsOf(again.import)
  expect(
    third.text
      .trim()
      .split('\n')
      .map(line => line.match(/"line"/g)?.length),
  ).toEqual([1, 1, 1])
})

test('rejects hold tabs, backslashes and line breaks as the file does, and no digit is lost on the way', async () => {
  const raw = 'a\\tb\tc\\,"x\\N\r\n\\.\\\ny",1'
  const staged = await harness.stage(`email,note,n\n${raw}\n`)
  expect(await harness.rejects()).toMatchObject([{ line: 2, raw }])
  expect(parse((await rejectsOf(staged.import)).text, { from_line: 2 })[0]?.slice(0, 3)).toEqual([
    'a\\tb\tc\\',
    'x\\N\r\n\\.\\\ny',
    '1',
  ])

  const tabs = await harness.stage('email\tnote\nx\\\ty\\t\n')
  expect((await harness.rejects()).at(-1)).toMatchObject({ raw: 'x\\\ty\\t' })
  expect((await rejectsOf(tabs.import)).text).toContain('\nx\\\ty\\t\t2\t')

  const first = await harness.stage('{"email":"x","id":18446744073709551615,"n":[9007199254740993]}\n')
  const again = await harness.stage((await rejectsOf(first.import)).text)
  expect((await rejectsOf(again.import)).text).toContain('"id":18446744073709551615,"n":[9007199254740993]')
})

test('a note with an address in it is one reject, and nobody when it is imported again', async () => {
  const note = '(none),"Asked to be removed, contact instead:\nboss@corp.example, assistant\nthanks"'
  const staged = await harness.stage(`email,note\n${note}\nada@example.com,x\n`)
  expect(staged.summary).toMatchObject({ read: 2, rejected: 1, pending: 1 })
  expect(await harness.rejects()).toMatchObject([{ line: 2, reason: 'not an e-mail address', raw: note }])

  const { text } = await rejectsOf(staged.import)
  const again = await harness.stage(text)
  expect(again.summary).toMatchObject({ read: 1, rejected: 1, pending: 0 })
  const repaired = await harness.stage(text.replace('(none)', 'ben@example.com'))
  expect(repaired.summary).toMatchObject({ read: 1, pending: 1 })
  const wrongWidth = await harness.stage(`email,note\nx,${note}\n`)
  const third = await harness.stage((await rejectsOf(wrongWidth.import)).text)
  expect(third.summary).toMatchObject({ read: 1, rejected: 1, pending: 0 })
})

test('an import without rejects gives a header, of one that does not exist nothing', async () => {
  const staged = await harness.stage('email;name\nada@example.com;A\n')

  expect(await rejectsOf(staged.import)).toEqual({
    text: 'email;name;line;reason;message;request_id\n',
    rows: 0,
  })
  expect(await rejectsOf(999n)).toEqual({ text: '', rows: 0 })
})

test('the rejects of the platform have its words and request id, and those purged have no cells', async () => {
  const { pool } = harness.store
  const { import: id } = await harness.stage('email,name\nada@example.com,A\ny,B\nben@example.com,C\n')
  await confirmImport(pool, id!, ADA)
  await sendBatches(pool, id!, [
    refused(400, 'InvalidParameter', { message: 'ada@example.com is not valid', requestId: '=req-2' }),
  ])
  await sendAll(pool, id!)
  const message = expect.stringContaining('<recipient> is not valid')
  const ours = ['3', 'not an e-mail address', 'the recipient is not an e-mail address', '']

  expect(parse((await rejectsOf(id)).text, { from_line: 2 })).toEqual([
    ['ada@example.com', 'A', '2', 'refused by the platform', message, "'=req-2"],
    ['y', 'B', ...ours],
  ])
  await purgeImport(pool, id!, ADA)
  expect(parse((await rejectsOf(id)).text, { from_line: 2 })).toEqual([
    ['', '', '2', 'refused by the platform', message, "'=req-2"],
    ['', '', ...ours],
  ])
})

test.for([4_999, 5_000, 5_001, 10_000, 10_001])(
  'has each of %i rejects once, in the order of the file',
  async count => {
    const { import: id } = await harness.stage('email\nada@example.com\n')
    await harness.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message, raw)
     select $1, n, 'file', 'no recipient', 'm', n from generate_series(3, $2::int + 2) n`,
      [id, count],
    )

    const { text, rows } = await rejectsOf(id)

    expect(rows).toBe(count)
    const cells = text.split('\n').slice(1, -1)
    expect(cells.map(line => line.slice(0, line.indexOf(',')))).toEqual(
      Array.from({ length: count }, (_, n) => `${n + 3}`),
    )
  },
)

test('is written whole or not at all, for nobody else to read', async () => {
  const staged = await harness.stage(CONTENT)
  const path = await harness.file('old', 'rejects.csv')

  expect(await saveRejects(harness.store.pool, staged.import ?? 0n, path)).toBe(4)

  expect(await readFile(path, 'utf8')).toBe((await rejectsOf(staged.import)).text)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await readdir(dirname(path))).filter(name => name.endsWith('.part'))).toEqual([])
})

test('a full device is said to be full', async () => {
  const staged = await harness.stage(CONTENT)

  const saving = saveRejects(harness.store.pool, staged.import ?? 0n, '/dev/full')

  await expect(saving).rejects.toBeInstanceOf(RejectsNotSaved)
  await expect(saving).rejects.toMatchObject({
    message: 'The rejects were not written to /dev/full: the disk is full.',
    whatToDo: 'Free disk space, or choose another place. The rejects are still in the database.',
  })
})

test('on a full disk what was there stays, and nothing half written is left', async ({ skip }) => {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-full-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', directory])
  if (mounted.status !== 0) {
    await rm(directory, { recursive: true })
    skip('only root can mount a small disk')
  }
  try {
    const staged = await harness.stage(`email\n${'not an address\n'.repeat(5000)}`)
    const path = join(directory, 'rejects.csv')
    await writeFile(path, 'what was there')

    await expect(saveRejects(harness.store.pool, staged.import ?? 0n, path)).rejects.toThrow(
      'the disk is full',
    )

    expect(await readFile(path, 'utf8')).toBe('what was there')
    expect(await readdir(directory)).toEqual(['rejects.csv'])
  } finally {
    spawnSync('umount', [directory])
    await rm(directory, { recursive: true })
  }
})

test('a place that cannot be written to is named', async () => {
  const staged = await harness.stage(CONTENT)
  const directory = dirname(await harness.file('x', 'taken'))

  const saving = saveRejects(harness.store.pool, staged.import ?? 0n, join(directory, 'taken', 'rejects.csv'))

  await expect(saving).rejects.toMatchObject({
    message: expect.stringMatching(
      /^The rejects were not written to .*\/taken\/rejects\.csv: .*ENOTDIR.*\.$/,
    ),
    whatToDo: 'Choose a place that this user may write to. The rejects are still in the database.',
  })

  // They are written, and then their name is found to be that of a directory.
  const named = saveRejects(harness.store.pool, staged.import ?? 0n, join(directory, 'nowhere/'))
  await expect(named).rejects.toBeInstanceOf(RejectsNotSaved)
  expect((await readdir(directory)).filter(name => name.endsWith('.part'))).toEqual([])
})

test('a reader that goes away ends the writing with its error', async () => {
  const staged = await harness.stage(CONTENT)
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('broken pipe')) })

  await expect(writeRejects(harness.store.pool, staged.import ?? 0n, broken)).rejects.toThrow('broken pipe')
})

const rejectsOf = (id: bigint | null) => rejectsText(harness.store.pool, id)
