import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { pino } from 'pino'
import { describe, expect, inject, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { planMigrations } from '#src/db/migration-plan.ts'
import { openDatabase } from '#src/db/pool.ts'
import { AT_START } from '#src/db/reach-postgres.ts'
import { MIGRATION_LOCK, readMigrations } from '#src/db/run-migrations.ts'
import { DatabaseIsNewer } from '#src/db/schema-errors.ts'
import { compareSchema } from '#src/db/schema-state.ts'
import { WatchedClient } from '#src/db/watched-client.ts'
import { onServer, openEmptyDatabase, withDatabase } from '#test/support/database.ts'
import { dropRole } from '#test/support/roles.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

test('four processes that migrate an empty database at once leave it migrated once', async () => {
  const { serverUrl, template } = inject('database')
  const name = `${template}_migrate`
  await onServer(serverUrl, `create database ${name}`)
  try {
    const url = withDatabase(serverUrl, name)
    const script = fileURLToPath(new URL('migrate-process.ts', import.meta.url))
    const processes = Array.from({ length: 4 }, () => fork(script, [url], { stdio: 'pipe' }))
    const ends = await Promise.all(
      processes.map(async child => {
        const said = child.stderr?.toArray()
        const [code] = await once(child, 'exit')
        return { code, stderr: Buffer.concat((await said) ?? []).toString() }
      }),
    )
    expect(ends).toEqual(processes.map(() => ({ code: 0, stderr: '' })))
    expect(await migrate(url)).toBe(0)
    const client = new Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(
      'select created_at, count(*)::int as times from ferry.migrations group by 1',
    )
    await client.end()
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.every(row => row.times === 1)).toBe(true)
  } finally {
    await onServer(serverUrl, `drop database ${name} with (force)`)
  }
})

test('a database that a newer Ferry migrated is refused in words, and left as it is', async () => {
  await using store = await openTestStore()
  await store.pool.query(
    "insert into ferry.migrations (hash, created_at) values ('of the future', 9999999999999)",
  )
  await expect(migrate(store.url)).rejects.toThrow(DatabaseIsNewer)
  await expect(migrate(store.url)).rejects.toThrow(/newer Ferry/)
})

test('a database in which others have tables of the same names is migrated beside them', async () => {
  await using database = await openEmptyDatabase()
  const { client } = database
  await client.query('create table migrations (id serial, created_at bigint); create table imports (id text)')
  expect(await migrate(database.url)).toBeGreaterThan(0)
  expect((await client.query('select from ferry.imports')).rowCount).toBe(0)
  expect((await client.query('select from public.migrations')).rowCount).toBe(0)
})

test('a migrated database is checked without any right to create', async () => {
  await using store = await openTestStore()
  const role = `reader_${Date.now()}`
  await store.pool.query(`create role ${role} login password 'p'; grant usage on schema ferry to ${role};
    grant select on ferry.migrations to ${role}`)
  try {
    const url = new URL(store.url)
    url.username = role
    url.password = 'p'
    expect(await migrate(url.href)).toBe(0)
  } finally {
    await dropRole(store.pool, role)
  }
})

describe('while another process migrates', () => {
  /** An empty database, and a client that has begun to migrate it and was suspended. */
  async function begun() {
    await using opened = new AsyncDisposableStack()
    const { url, client: other } = opened.use(await openEmptyDatabase())
    await other.query('begin; create schema ferry')
    // In one transaction, one and the same picture of all sessions is shown again and again.
    const watcher = new Client({ connectionString: url })
    await watcher.connect()
    opened.defer(() => watcher.end())
    const kept = opened.move()
    return { url, other, watcher, [Symbol.asyncDispose]: () => kept.disposeAsync() }
  }

  test.each(['commit', 'rollback'])('a migration waits, and goes on after its %s', async end => {
    await using database = await begun()
    const migrated = migrate(database.url)
    await waitFor(() => isWaiting(database.watcher), { what: 'the migration to wait' })
    await database.other.query(end)
    expect(await migrated).toBeGreaterThan(0)
    expect(await migrate(database.url)).toBe(0)
  })

  test('it can be told to stop waiting', async () => {
    await using database = await begun()
    const stop = new AbortController()
    const migrated = migrate(database.url, 'update', { signal: stop.signal })
    await waitFor(() => isWaiting(database.watcher), { what: 'the migration to wait' })
    stop.abort(new Error('stopped'))
    await expect(migrated).rejects.toThrow('stopped')
  })

  test('it gives up after a while, in words', async () => {
    await using database = await begun()
    await expect(migrate(database.url, 'update', { waitMs: 1_000 })).rejects.toMatchObject({
      name: 'MigrationBlocked',
      message: expect.stringContaining('others have locked it for 1 s'),
      whatToDo: expect.stringContaining('pg_stat_activity'),
    })
  })

  test('it names who holds locks on the tables', async () => {
    await using store = await openTestStore()
    await using other = openDatabase(store.url, pino({ level: 'silent' }))
    await store.pool.query(
      'delete from ferry.migrations where created_at = (select max(created_at) from ferry.migrations)',
    )
    const holder = await other.pool.connect()
    await holder.query(`begin; set local application_name = 'psql'; ${MIGRATION_LOCK}`)
    const { rows } = await holder.query('select pg_backend_pid() as pid, current_user as "user"')
    await expect(migrate(store.url, 'update', { waitMs: 300 })).rejects.toMatchObject({
      name: 'MigrationBlocked',
      message: expect.stringContaining(`held now by: ${rows[0].pid} (user ${rows[0].user}, psql).`),
      whatToDo: expect.stringContaining('pg_terminate_backend'),
    })
    holder.release(true)
  })

  test('a database that is up to date is opened all the same', async () => {
    await using store = await openTestStore()
    await using other = openDatabase(store.url, pino({ level: 'silent' }))
    const holder = await other.pool.connect()
    await holder.query(`begin; ${MIGRATION_LOCK}`)
    expect(await migrate(store.url)).toBe(0)
    holder.release(true)
  })
})

test('after each migration, however long it took, the next one is waited for as long as the first', async () => {
  await using database = await openEmptyDatabase()
  const { url, client } = database
  // The first migration takes longer than the wait; whatever comes next finds a table locked, once.
  await client.query(`
    create sequence public.naps; create sequence public.locks;
    create function public.hold_up() returns event_trigger language plpgsql as $$ begin
      if to_regclass('ferry.migrations') is null then return; end if;
      if not exists (select from ferry.migrations) then
        if nextval('public.naps') = 1 then perform pg_sleep(1.2); end if;
      elsif nextval('public.locks') = 1 then raise 'planted' using errcode = 'lock_not_available'; end if;
    end $$`)
  await onServer(
    withDatabase(inject('database').superuserUrl, new URL(url).pathname.slice(1)),
    'create event trigger hold_up on ddl_command_start execute function public.hold_up()',
  )
  expect(await migrate(url, 'update', { waitMs: 1_000 })).toBe((await readMigrations()).length)
  expect((await client.query(`select nextval('public.locks') > 2 as was_locked`)).rows).toEqual([
    { was_locked: true },
  ])
})

test.each([
  ['a table', 'create table ferry.alert_rules (id int)', 'a table or view alert_rules'],
  ['a view', 'create view ferry.freshness as select 1 as one', 'a table or view freshness'],
  [
    'a function',
    "create function ferry.nights() returns int language sql as 'select 1'",
    'a function nights',
  ],
  ['migrations of another kind', 'create table ferry.migrations (id int)', 'a table or view migrations'],
])(
  'a schema ferry with %s of somebody else is refused in words, and left as it is',
  async (_, statement, named) => {
    await using database = await openEmptyDatabase()
    const { url, client } = database
    await client.query(`create schema ferry; ${statement}`)
    for (const policy of ['read', 'update'] as const) {
      await expect(migrate(url, policy)).rejects.toMatchObject({
        name: 'SchemaTaken',
        message: expect.stringContaining(`has ${named},`),
      })
    }
    expect((await client.query("select to_regnamespace('ferry_internal') as there")).rows).toEqual([
      { there: null },
    ])
    await client.query('drop schema ferry cascade; create schema ferry')
    expect(await migrate(url)).toBeGreaterThan(0)
  },
)

test('if only the schema ferry was dropped, what is left of the other is named, and left as it is', async () => {
  await using store = await openTestStore()
  const countLeft = async () => {
    const left = `select count(*)::int as left from pg_proc where pronamespace = to_regnamespace('ferry_internal')`
    return (await store.pool.query(left)).rows
  }
  await store.pool.query('drop schema ferry cascade')
  const before = await countLeft()
  for (const policy of ['read', 'plan', 'update'] as const) {
    await expect(migrate(store.url, policy)).rejects.toMatchObject({
      name: 'SchemaLeftOver',
      message: expect.stringMatching(
        /schema ferry_internal .* a function \w+, but the schema ferry has no tables/,
      ),
      whatToDo: expect.stringContaining('drop schema if exists ferry, ferry_internal cascade;'),
    })
  }
  expect(await compareSchema(store.pool, 5_000)).toBe('unsupported')
  expect(await countLeft()).toEqual(before)
  await store.pool.query('drop schema if exists ferry, ferry_internal cascade')
  expect(await migrate(store.url)).toBeGreaterThan(0)
})

test('a migration that fails leaves nothing behind', async () => {
  await using database = await openEmptyDatabase()
  const { url, client } = database
  await client.query('create schema ferry_internal; create type ferry_internal.limited_calls as enum ()')
  await expect(migrate(url)).rejects.toThrow('limited_calls')
  expect((await client.query("select to_regclass('ferry.migrations') as there")).rows).toEqual([
    { there: null },
  ])
  await client.query('drop schema ferry_internal cascade')
  expect(await migrate(url)).toBeGreaterThan(0)
})

async function isWaiting(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    "select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'",
  )
  return rows.length === 1
}

test('a plan names each migration that is to come by its file, with all its statements and the locks that it takes', async () => {
  const folder = new URL('../../drizzle/', import.meta.url)
  const files = readdirSync(folder).filter(file => file.endsWith('.sql'))
  const locks: Record<string, object[]> = JSON.parse(readFileSync(new URL('locks.json', folder), 'utf8'))
  const planned = files.toSorted().map(file => ({
    migration: file.replace('.sql', ''),
    statements: readFileSync(new URL(file, folder), 'utf8')
      .split('--> statement-breakpoint')
      .map(statement => statement.trim()),
    locks: null,
    isConcurrent: false,
  }))
  await using empty = await openEmptyDatabase()
  expect(await planMigrations(empty.client)).toEqual(planned)
  await migrate(empty.url)
  expect(await planMigrations(empty.client)).toEqual([])
  await empty.client.query('delete from ferry.migrations where id = (select max(id) from ferry.migrations)')
  const [last] = planned.slice(-1)
  expect(await planMigrations(empty.client)).toEqual([
    { ...last, locks: (locks[last!.migration] ?? []).map(lock => ({ ...lock, rows: expect.any(Number) })) },
  ])
})

test.each([
  [AT_START, 'ferry migrate'],
  ['reporting', 'reporting'],
])(
  'a migration over a connection called %s is found as %s by whoever looks for what holds a lock',
  async (given, shown) => {
    await using empty = await openEmptyDatabase()
    const connected = new WatchedClient({ connectionString: empty.url, application_name: given })
    await connected.connect()
    await empty.client.query('begin; create schema ferry')
    const migrating = migrate(empty.url, 'update', { connected })
    const waiting = async () => {
      // What a transaction saw of others, it goes on to see.
      await empty.client.query('select pg_stat_clear_snapshot()')
      const { rows } = await empty.client.query(
        `select application_name as name from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows[0]?.name
    }
    expect(await waitFor(waiting, { what: 'the migration to wait' })).toBe(shown)
    await empty.client.query('rollback')
    expect(await migrating).toBeGreaterThan(0)
  },
)
