import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { onServer, withDatabase } from '#test/support/database.ts'
import { type Env, jsonLines, runFerryHere, startFerry } from './run-ferry.ts'

const READING = [
  'doctor',
  'runs list',
  'runs show 1',
  'snapshots list',
  'snapshots diff 1 2',
  'changes',
  'rules list',
  'rules show 1',
  'servers list',
  'schedules list',
  'imports list',
  'imports show 1',
  'imports watch 1',
  'imports recipients 1',
  'imports rejects 1',
]

const ACCOUNT = { FERRY_BASE_URL: 'http://127.0.0.1:9', FERRY_APP_KEY: 'k', FERRY_LIST_LIMIT: '50/1s' }

describe('on a database without tables', () => {
  test.each(READING)('`ferry %s` says so, names `ferry migrate` and makes nothing', async args => {
    await using database = await openEmptyDatabase()
    const { code, stdout, stderr } = await runFerryHere(args.split(' '), database.env)
    expect(code).toBe(2)
    expect(stdout + stderr).toContain('The database has no tables of Ferry yet')
    expect(stdout + stderr).toContain('`ferry migrate`')
    expect(await schemasOf(database.url)).toEqual([])
  })

  test('a command that works makes them, those of the queue too, so that doctor misses nothing', async () => {
    await using database = await openEmptyDatabase()
    // The platform is out of reach: the tables are made all the same.
    expect((await runFerryHere(['sync', 'alert-rules', '--json'], database.env)).code).toBe(1)
    expect(await schemasOf(database.url)).toEqual(['ferry', 'ferry_queue'])
    expect(jsonLines(await runFerryHere(['runs', 'list', '--json'], database.env))).toMatchObject([
      { run: '1' },
    ])
    const found = jsonLines(await runFerryHere(['doctor', '--json'], database.env))
    expect(found.find(({ check }) => check === 'queue')).toMatchObject({ status: 'ok' })
  })

  test('a plan and a dry run make them too, and their help says so', async () => {
    for (const [command, rest] of [
      ['sync', ['alert-rules', '--plan']],
      ['import', [fileURLToPath(import.meta.url), '--page', '7', '--dry-run']],
    ] as const) {
      await using database = await openEmptyDatabase()
      await runFerryHere([command, ...rest], database.env)
      expect(await schemasOf(database.url)).toContain('ferry')
      const { stdout } = await runFerryHere([command, '--help'])
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain('creates the tables if there are none')
    }
  })
})

describe('on the tables of an older Ferry', () => {
  test.each([...READING, 'sync all', 'snapshots take', 'schedules run prune'])(
    '`ferry %s` says so, names `ferry migrate` and changes nothing',
    async args => {
      await using database = await openEmptyDatabase()
      const lacking = await migrateAllButOne(database.url)
      const { code, stdout, stderr } = await runFerryHere(args.split(' '), database.env)
      expect(code).toBe(1)
      expect(stdout + stderr).toContain('The database is older than this Ferry: it lacks one migration.')
      expect(stdout + stderr).toContain('`ferry migrate`')
      expect(await newestMigration(database.url)).toBeLessThan(lacking)
      expect(await schemasOf(database.url)).toEqual(['ferry'])
    },
  )

  test('`ferry migrate` brings them up to date', async () => {
    await using database = await openEmptyDatabase()
    const lacking = await migrateAllButOne(database.url)
    expect(jsonLines(await runFerryHere(['migrate', '--json'], database.env))).toEqual([
      { migrations: 1, reader: 'ready' },
    ])
    expect(await newestMigration(database.url)).toBe(lacking)
  })

  test.each(['up', 'worker'])('`ferry %s` brings them up to date', async command => {
    await using database = await openEmptyDatabase()
    const lacking = await migrateAllButOne(database.url)
    await using ferry = startFerry([command, '--json'], database.env)
    await ferry.printed('"schedules"')
    expect(await newestMigration(database.url)).toBe(lacking)
    ferry.child.kill('SIGTERM')
    expect((await ferry.ended).code).toBe(0)
  })
})

describe('without a data directory', () => {
  test.each(READING)('`ferry %s` says that there is no database and makes none', async args => {
    const home = mkdtempSync(join(tmpdir(), 'ferry-nothing-'))
    onTestFinished(() => rmSync(home, { recursive: true }))
    const dataDir = join(home, 'data')
    const { code, stdout, stderr } = await runFerryHere(args.split(' '), {
      ...ACCOUNT,
      FERRY_DATA_DIR: dataDir,
    })
    expect(code).toBe(2)
    expect(stdout + stderr).toContain(`There is no database in ${dataDir} yet`)
    expect(stdout + stderr).toContain('`ferry migrate`')
    expect(readdirSync(home)).toEqual([])
  })

  test('`ferry migrate` makes one', async () => {
    const home = mkdtempSync(join(tmpdir(), 'ferry-nothing-'))
    onTestFinished(() => rmSync(home, { recursive: true }))
    const env = { ...ACCOUNT, FERRY_DATA_DIR: join(home, 'data') }
    expect((await runFerryHere(['migrate'], env)).code).toBe(0)
    expect(existsSync(join(home, 'data', 'postgres'))).toBe(true)
    expect(await runFerryHere(['runs', 'list'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No run yet'),
    })
  })
})

let databases = 0

async function openEmptyDatabase(): Promise<AsyncDisposable & { readonly url: string; readonly env: Env }> {
  const { serverUrl, template } = inject('database')
  const name = `${template}_schema_${process.pid}_${++databases}`
  await onServer(serverUrl, `create database ${name} template template0 encoding 'UTF8'`)
  const url = withDatabase(serverUrl, name)
  const nowhere = join(tmpdir(), `ferry-cli-nowhere-${process.pid}`)
  return {
    url,
    env: { ...ACCOUNT, DATABASE_URL: url, FERRY_DATA_DIR: nowhere },
    [Symbol.asyncDispose]: () => onServer(serverUrl, `drop database ${name} with (force)`),
  }
}

const FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url))

/** Makes the tables as the version before this one left them; returns when the missing migration was written. */
async function migrateAllButOne(url: string): Promise<number> {
  const { entries }: { entries: { tag: string; when: number }[] } = JSON.parse(
    readFileSync(join(FOLDER, 'meta/_journal.json'), 'utf8'),
  )
  await using client = await connect(url)
  await client.query(`create schema ferry;
    create table ferry.migrations (id serial primary key, hash text not null, created_at bigint)`)
  for (const { tag, when } of entries.slice(0, -1)) {
    await client.query(readFileSync(join(FOLDER, `${tag}.sql`), 'utf8'))
    await client.query('insert into ferry.migrations (hash, created_at) values ($1, $2)', [tag, when])
  }
  return entries.at(-1)?.when ?? 0
}

async function newestMigration(url: string): Promise<number> {
  await using client = await connect(url)
  const { rows } = await client.query('select max(created_at)::float8 as newest from ferry.migrations')
  return rows[0].newest
}

async function schemasOf(url: string): Promise<string[]> {
  await using client = await connect(url)
  const { rows } = await client.query(
    `select nspname from pg_namespace where nspname like 'ferry%' order by nspname`,
  )
  return rows.map(row => row.nspname)
}

async function connect(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
