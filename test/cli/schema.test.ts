import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { onServer, withDatabase } from '#test/support/database.ts'
import { makeNewerFerry } from './newer-ferry.ts'
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
  'freshness',
  'at 1h',
  'report freshness',
  'notify list',
  'audit',
  'verify',
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

  test('a command that works makes them, those of the queue and the rights of the role that only reads too, so that doctor misses nothing', async () => {
    await using database = await openEmptyDatabase()
    // The platform is out of reach: the tables are made all the same.
    expect((await runFerryHere(['sync', 'alert-rules', '--json'], database.env)).code).toBe(1)
    expect(await schemasOf(database.url)).toEqual(['ferry', 'ferry_internal', 'ferry_queue'])
    expect(jsonLines(await runFerryHere(['runs', 'list', '--json'], database.env))).toMatchObject([
      { run: '1' },
    ])
    const found = jsonLines(await runFerryHere(['doctor', '--json'], database.env))
    for (const name of ['queue', 'reader']) {
      expect(found.find(({ check }) => check === name)).toMatchObject({ status: 'ok' })
    }
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
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain('creates missing tables')
    }
  })
})

describe('on the tables of an older Ferry', () => {
  let newer: ReturnType<typeof makeNewerFerry>
  beforeAll(() => {
    newer = makeNewerFerry()
    return () => newer[Symbol.dispose]()
  })

  const startNewer = (args: readonly string[], env: Env) => startFerry(args, env, [], newer.entry)

  test('each command that does not migrate says so, names `ferry migrate` and changes nothing', async () => {
    await using database = await openOlderDatabase()
    for (const command of [...READING, 'sync all', 'snapshots take', 'schedules run prune']) {
      await using ferry = startNewer(command.split(' '), database.env)
      const { code, stdout, stderr } = await ferry.ended
      expect(code, command).toBe(1)
      expect(stdout + stderr, command).toContain(
        'The database is older than this Ferry: it lacks one migration.',
      )
      expect(stdout + stderr, command).toContain('`ferry migrate`')
    }
    expect(await newestMigration(database.url)).toBeLessThan(newer.when)
    expect(await schemasOf(database.url)).toEqual(['ferry', 'ferry_internal'])
  })

  test('`ferry migrate` brings them up to date', async () => {
    await using database = await openOlderDatabase()
    await using ferry = startNewer(['migrate', '--json'], database.env)
    expect(jsonLines(await ferry.ended)).toEqual([{ migrations: 1, reader: 'ready' }])
    expect(await newestMigration(database.url)).toBe(newer.when)
  })

  test.each(['up', 'worker'])('`ferry %s` brings them up to date', async command => {
    await using database = await openOlderDatabase()
    await using ferry = startNewer([command, '--json'], database.env)
    await ferry.printed('"schedules"')
    expect(await newestMigration(database.url)).toBe(newer.when)
    ferry.child.kill('SIGTERM')
    expect((await ferry.ended).code).toBe(0)
  })
})

test.each([...READING, 'migrate', 'up', 'sync all'])(
  '`ferry %s` refuses tables from before the first release, and leaves them as they are',
  async command => {
    await using database = await openEmptyDatabase()
    await using client = await connect(database.url)
    await client.query(`create schema ferry;
      create table ferry.migrations (id serial primary key, hash text not null, created_at bigint);
      insert into ferry.migrations (hash, created_at) values ('development', 1760000000000)`)
    const { code, stdout, stderr } = await runFerryHere(command.split(' '), database.env)
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('was made by a Ferry from before the first release')
    expect(stdout + stderr).toContain('FERRY_DATA_DIR')
    expect(await schemasOf(database.url)).toEqual(['ferry'])
    const { rows } = await client.query(`select relname from pg_class
      where relnamespace = 'ferry'::regnamespace and relkind = 'r'`)
    expect(rows).toEqual([{ relname: 'migrations' }])
  },
)

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
    expect(stdout + stderr).toContain(`${dataDir} does not contain a database yet`)
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

/** With the tables of this version. */
async function openOlderDatabase() {
  const database = await openEmptyDatabase()
  await migrate(database.url)
  return database
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
