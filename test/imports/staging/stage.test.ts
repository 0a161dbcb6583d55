import { type ChildProcess, execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { openDatabase } from '#src/db/pool.ts'
import { confirmImport } from '#src/imports/control/decide.ts'
import { openRecipientHash } from '#src/imports/spellings.ts'
import { DiskFull } from '#src/imports/staging/disk-space.ts'
import { discardStaging, oldStagings } from '#src/imports/staging/expire.ts'
import { stageImport } from '#src/imports/staging/stage.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { removeOld } from '#test/support/prune.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { NEVER, OPTIONS } from '../options.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

test('stages the rows of a CSV as an import that waits to be confirmed', async () => {
  await using harness = await openStagingHarness()

  const staged = await harness.stage(
    'Email,All,Component IDs,Locale,Company\n' +
      'ada@example.com,yes,,en-GB,Analytical\n' +
      'ben@example.com,no,c1|c2,,\n' +
      'not an address,yes,,,\n',
  )

  expect(staged.summary).toMatchObject({ status: 'staging', read: 3, rejected: 1, pending: 2, batches: 1 })
  expect(staged.file).toEqual({
    compression: 'none',
    format: 'csv',
    delimiter: ',',
    columns: ['Email', 'All', 'Component IDs', 'Locale', 'Company'],
    mapped: { recipient: 'Email', all: 'All', component_ids: 'Component IDs', locale: 'Locale' },
    unused: ['Company'],
  })
  expect(await harness.recipients()).toEqual([
    { line: 2, recipient: 'ada@example.com', all: true, ids: null, locale: 'en-GB' },
    { line: 3, recipient: 'ben@example.com', all: false, ids: ['c1', 'c2'], locale: 'en-US' },
  ])
  expect(await harness.rejects()).toEqual([
    { line: 4, reason: 'not an e-mail address', column: 'Email', raw: 'not an address,yes,,,' },
  ])
  expect(staged.samples[0]).toEqual({
    line: 2n,
    recipient: 'a…@example.com',
    all: true,
    componentIds: [],
    locale: 'en-GB',
  })
  expect(staged.rejectSamples).toHaveLength(1)
  const imports = await harness.query(
    'select id, status, read, recipients, last_line::int, staged_at is not null as staged from ferry.imports',
  )
  expect(imports).toEqual([
    { id: String(staged.import), status: 'staging', read: 3, recipients: 2, last_line: 4, staged: true },
  ])
})

test('rows of which Postgres can make no statistics are staged all the same, later ones with statistics', async () => {
  await using harness = await openStagingHarness()
  const { pool, url } = harness.store
  const impatient = Object.assign(new URL(url), { search: '?options=-c%20lock_timeout%3D50ms' }).href
  await using database = openDatabase(impatient, pino({ level: 'silent' }))
  const known = async () =>
    (await pool.query(`select reltuples from pg_class where oid = 'ferry.import_recipients'::regclass`))
      .rows[0].reltuples
  const before = await known()
  const holder = await pool.connect()
  await holder.query('begin; lock table ferry.import_recipients in share update exclusive mode')
  const path = await harness.file('email\nada@example.com\nben@example.com\n')
  const staged = await stageImport(database, path, OPTIONS, { signal: NEVER })
  expect(staged.summary).toMatchObject({ import: 1n, status: 'staging', read: 2, pending: 2 })
  expect(await known()).toBe(before)
  await holder.query('rollback')
  holder.release()
  await harness.stage('email\ncleo@example.com\n')
  expect(await known()).toBe(3)
  expect(await confirmImport(pool, staged.import!, ADA)).toBe('queued')
})

test('a dry run counts the same and keeps nothing', async () => {
  await using harness = await openStagingHarness()
  const content = 'email\nada@example.com\nADA@example.com\nx\nben@example.com\n'

  const dry = await harness.dryRun(content, { suppress: await harness.file('ben@example.com\n') })

  expect(dry.import).toBeNull()
  expect(dry.summary).toMatchObject({
    import: null,
    read: 4,
    rejected: 1,
    duplicate: 1,
    suppressed: 1,
    pending: 1,
  })
  expect(await harness.query('select from ferry.imports')).toEqual([])
  expect(await harness.recipients()).toEqual([])
  const stored = await harness.stage(content, { suppress: await harness.file('ben@example.com\n') })
  expect({ ...stored.summary, import: null, durationMs: 0 }).toEqual({ ...dry.summary, durationMs: 0 })
  expect(stored.reasons).toEqual(dry.reasons)
})

test('a recipient is found again by the hash of the address, whatever the case of its letters', async () => {
  await using harness = await openStagingHarness()
  await harness.stage('email\nAda@Example.com\n')
  const { id } = await loadInstallation(harness.store.pool)

  const found = await harness.query(
    'select line::int from ferry.import_recipients where recipient_hash = $1',
    [openRecipientHash(id, 'email')('ada@EXAMPLE.com')],
  )

  expect(found).toEqual([{ line: 2 }])
  expect(openRecipientHash(id, 'im')('ada@example.com')).not.toBe(
    openRecipientHash(id, 'email')('ada@example.com'),
  )
})

test('every row of any file is in exactly one place', async () => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file('opted-out@example.com\n')
  const line = fc.constantFrom(
    'a@example.com,,yes',
    'A@example.com,c1,',
    'b@example.com,c2,no',
    'b@example.com,c1,',
    'opted-out@example.com,,yes',
    'c@example.com,,',
    'nobody,,yes',
    '"d@example.com,,yes',
    'e@example.com,,yes,',
    '"f@example.com",c1|c2,no',
  )
  const property = fc.asyncProperty(fc.array(line, { maxLength: 40 }), async lines => {
    const staged = await harness.stage(`email,component_ids,all\n${lines.join('\n')}\n`, {
      suppress,
      all: false,
    })

    // A row over several lines, as a lone quote makes one, is stored with all of them.
    const stored = await harness.query<{ line: number; lines: number }>(
      `select line::int, coalesce(regexp_count(raw, E'\\n'), 0) + 1 as lines from (
         select import_id, line, raw from ferry.import_recipients
         union all select import_id, line, raw from ferry.import_rejects
         union all select import_id, line, null from ferry.import_left_out
       ) rows where import_id = $1 order by line`,
      [staged.import],
    )
    const covered = stored.flatMap(row => Array.from({ length: row.lines }, (_, n) => row.line + n))
    expect(covered).toEqual(lines.map((_, n) => n + 2))
    expect(staged.summary.read).toBe(stored.length)
  })
  await fc.assert(property, { numRuns: 40 })
})

test('rows of every kind are stored once, whatever megabytes they take', async () => {
  await using harness = await openStagingHarness()
  const host = ['d', 'e', 'f'].map(letter => letter.repeat(55)).join('.')
  const people = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${name}${n}@${host}.example.com`)
  const content = [
    'email,confirmed',
    ...people('p', 5_000).map(person => `${person},true`),
    ...people('s', 5_000).map(person => `${person},false`),
    ...Array.from({ length: 60 }, (_, n) => `${n} ${'x'.repeat(30_000)},true`),
  ].join('\n')

  const staged = await harness.stage(content, { from: 'instatus' })

  expect(staged.summary).toMatchObject({ suppressed: 5_000, rejected: 60, pending: 5_000 })
  expect((await harness.recipients()).map(row => row.line)).toEqual(lines(2, 5_000))
  expect((await harness.leftOut()).map(row => row.line)).toEqual(lines(5_002, 5_000))
  expect((await harness.rejects()).map(row => row.line)).toEqual(lines(10_002, 60))
})

const lines = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n)

test('an import that was not confirmed is discarded when told, or after 24 hours', async () => {
  await using harness = await openStagingHarness()
  const content = 'email\nada@example.com\nada@example.com\nx\n'
  const [first, old, confirmed, fresh] = [
    await harness.stage(content),
    await harness.stage(content),
    await harness.stage(content),
    await harness.stage(content),
  ]
  for (const { import: id } of [old, confirmed]) await ageImport(harness.store.pool, id!, '25 hours')
  await confirmImport(harness.store.pool, confirmed.import!, ADA)

  await discardStaging(harness.store.pool, first.import ?? 0n)
  await discardStaging(harness.store.pool, confirmed.import ?? 0n)

  expect(await removeOld(oldStagings(harness.store.pool))).toBe(1)
  const left = [confirmed.import, fresh.import].map(String)
  expect(await idsIn(harness, 'imports', 'id')).toEqual(left)
  for (const table of ['import_recipients', 'import_rejects', 'import_left_out']) {
    expect(await idsIn(harness, table, 'import_id')).toEqual(left)
  }
})

test('an import is discarded 24 hours after its file was read, also if the clock was set back meanwhile', async () => {
  await using harness = await openStagingHarness()
  const { import: id } = await harness.stage('email\nada@example.com\n')
  await harness.query(
    `update ferry.imports set created_at = now() + interval '1 day', staged_at = now() - interval '25 hours' where id = ${id}`,
  )
  expect(await removeOld(oldStagings(harness.store.pool))).toBe(1)
})

test('a staging that fills the disk gives its space back at once, and says so', async () => {
  await using harness = await openStagingHarness()
  await harness.stage('email\nada@example.com\n')
  const size = () =>
    harness.query<{ bytes: number }>(`select pg_table_size('ferry.import_recipients')::int as bytes`)
  const [before] = await size()
  // Postgres says that a disk is full in whatever statement comes upon it.
  await harness.query(`
    create function ferry.full() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
    create trigger full_disk before insert on ferry.import_recipients for each row when (new.line = 100000)
      execute function ferry.full()`)
  const content = `email\n${Array.from({ length: 120_000 }, (_, n) => `p${n}@example.com`).join('\n')}\n`

  const failed = await harness.stage(content).catch(error => error)

  expect(failed).toBeInstanceOf(DiskFull)
  expect(failed.message).toMatch(
    /disk of Postgres is full: nothing of the file was stored, and \d+ MB were freed/,
  )
  expect(failed.whatToDo).toContain('Free disk space')
  const [after] = await size()
  expect(after?.bytes).toBeLessThan((before?.bytes ?? 0) + 100_000)
  expect(await harness.recipients()).toHaveLength(1)
})

test('reads stdin, and counts its bytes', async () => {
  await using harness = await openStagingHarness()

  const { child, ended } = stageProcess(harness.store.url)
  child.stdin?.end('email\nada@example.com\n')
  const { stdout } = await ended

  expect(JSON.parse(stdout)).toEqual({ pending: 1, file: 'stdin', bytes: 22, totalBytes: null })
})

test('what is wrong with stdin is said of stdin, and the remedy names files', async () => {
  await using harness = await openStagingHarness()
  const { child, ended } = stageProcess(harness.store.url)
  child.stdin?.end('[{"email": "ada@example.com"}]')
  const { message } = await ended.then(
    () => expect.fail('it was staged'),
    error => error as Error,
  )
  expect(message).toContain('stdin is a JSON array')
  expect(message).toContain("jq -c '.[]' file.json > file.ndjson")
})

test('a process killed while it stages leaves nothing', async () => {
  await using harness = await openStagingHarness()
  const { child } = stageProcess(harness.store.url)
  child.stdin?.write('email\n')
  for (let n = 0; n < 50_000; n++) child.stdin?.write(`p${n}@example.com\n`)
  const writes = () =>
    harness.query(
      `select from pg_locks where relation = 'ferry.import_recipients'::regclass and mode = 'RowExclusiveLock'
         and database = (select oid from pg_database where datname = current_database())`,
    )
  await waitFor(async () => (await writes()).length > 0, { what: 'rows to be written' })

  child.kill('SIGKILL')

  await waitFor(async () => (await writes()).length === 0, { what: 'the transaction to end' })
  expect(await harness.query('select from ferry.imports')).toEqual([])
  expect(await harness.recipients()).toEqual([])
})

async function idsIn(harness: StagingHarness, table: string, column: string): Promise<string[]> {
  const rows = await harness.query<{ id: string }>(
    `select distinct ${column} as id from ferry.${table} order by 1`,
  )
  return rows.map(({ id }) => id)
}

/** Stages what another process is given on its stdin. */
function stageProcess(url: string): { child: ChildProcess; ended: Promise<{ stdout: string }> } {
  const script = fileURLToPath(new URL('stage-stdin.ts', import.meta.url))
  const { promise: ended, resolve, reject } = Promise.withResolvers<{ stdout: string }>()
  const child = execFile(process.execPath, [script, url], (error, stdout) =>
    error ? reject(error) : resolve({ stdout }),
  )
  ended.catch(() => {}) // one that is killed is not waited for
  child.stdin?.on('error', () => {})
  return { child, ended }
}
