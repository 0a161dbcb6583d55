import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { prepareAccountReader } from '#src/reports/account-readers.ts'
import { makeNewerFerry } from '#test/cli/newer-ferry.ts'
import { jsonLines, runFerryHere, startFerry } from '#test/cli/run-ferry.ts'
import { openEmptyDatabase } from '#test/support/database.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

/* The next release migrates while this one works. */

const ADD_COLUMN = 'ALTER TABLE ferry.leases ADD COLUMN note text;\n'
const BUILD_INDEX = 'CREATE UNIQUE INDEX CONCURRENTLY leases_planted ON ferry.leases (holder);\n'

const env = (url: string) => ({ DATABASE_URL: url })
const migrateWith = (newer: { entry: string }, url: string, args: readonly string[] = []) =>
  startFerry(['migrate', '--json', ...args], env(url), [], newer.entry)

const insertLease = (pool: Pool, name: string) =>
  pool.query("insert into ferry.leases values ($1, gen_random_uuid(), 'planted', now(), now())", [name])

test('a migration that waits for a lock lets others pass, and gets it once it is free', async () => {
  using newer = makeNewerFerry({ sql: ADD_COLUMN })
  await using store = await openTestStore()
  const reader = await store.pool.connect()
  await reader.query('begin; select from ferry.leases')
  await using migrating = migrateWith(newer, store.url)
  await waitFor(() => isWaiting(store.pool), { what: 'the migration to wait' })
  // It queues behind the migration, whose wait ends while the reader goes on.
  await insertLease(store.pool, 'a')
  await reader.query('commit')
  reader.release()
  expect(jsonLines(await migrating.ended)).toMatchObject([{ migrations: 1 }])
  expect((await store.pool.query('select note from ferry.leases')).rows).toEqual([{ note: null }])
})

test('a plan shows each statement in a line, whole if it has 100 characters', async () => {
  const statement = (name: string, length: number) =>
    `${`CREATE TABLE ferry.${name} (a int,`.padEnd(length - 'b int);'.length)}b int);`
  const [exact, longer] = [statement('exact', 100), statement('longer', 101)]
  using newer = makeNewerFerry({ sql: `${exact}\n--> statement-breakpoint\n${longer}\n` })
  await using store = await openTestStore()
  await using planning = startFerry(['migrate', '--plan'], env(store.url), [], newer.entry)
  const { stdout } = await planning.ended
  expect(stdout).toContain(`  ${exact}\n`)
  expect(stdout).toContain(`  ${longer.slice(0, 99)}…\n`)
})

test('an index is built while a transaction is open, and one that was left half-built is built again', async () => {
  using newer = makeNewerFerry({ sql: BUILD_INDEX })
  await using store = await openTestStore()
  await insertLease(store.pool, 'a')
  await insertLease(store.pool, 'b')
  await using failing = migrateWith(newer, store.url)
  expect(await failing.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('leases_planted') })
  expect(await indexes(store.pool)).toEqual([{ indisvalid: false }])
  expect(jsonLines(await runFerryHere(['runs', 'list', '--json'], env(store.url)))).toEqual([])

  await store.pool.query("delete from ferry.leases where name = 'b'")
  const writer = await store.pool.connect()
  await writer.query('begin; update ferry.leases set expires_at = now()')
  await using migrating = migrateWith(newer, store.url)
  await waitFor(() => isWaiting(store.pool), { what: 'the migration to wait for the writer' })
  await store.pool.query("insert into ferry.leases values ('c', gen_random_uuid(), 'other', now(), now())")
  await writer.query('commit')
  writer.release()
  expect(jsonLines(await migrating.ended)).toMatchObject([{ migrations: 1 }])
  expect(await indexes(store.pool)).toEqual([{ indisvalid: true }])
})

test('an index that was built and not recorded is kept', async () => {
  using newer = makeNewerFerry({ sql: BUILD_INDEX })
  await using store = await openTestStore()
  await store.pool.query(BUILD_INDEX)
  const { rows } = await store.pool.query("select 'ferry.leases_planted'::regclass::oid as oid")
  await using migrating = migrateWith(newer, store.url)
  expect(jsonLines(await migrating.ended)).toMatchObject([{ migrations: 1 }])
  expect((await store.pool.query("select 'ferry.leases_planted'::regclass::oid as oid")).rows).toEqual(rows)
})

test('what readers of one account need is dropped all the same, and they see what is left; views of others stay', async () => {
  using newer = makeNewerFerry({ sql: 'DROP TABLE ferry.contract_drift;\n' })
  await using store = await openTestStore()
  expect(await prepareAccountReader(store.pool, 'default')).toMatchObject({ status: 'ready' })
  await store.pool.query(
    'create schema ferry_reader_of_others create view ferry_reader_of_others.mine as select 1 as one',
  )
  await using migrating = migrateWith(newer, store.url)
  expect(jsonLines(await migrating.ended)).toMatchObject([
    { migrations: 1, readersOf: [{ role: 'ferry_reader_default', status: 'ready' }] },
  ])
  const { rows } = await store.pool.query(
    `select relname from pg_class where relnamespace = 'ferry_reader_default'::regnamespace and relname in ('audit_log', 'contract_drift')`,
  )
  expect(rows).toEqual([{ relname: 'audit_log' }])
  expect((await store.pool.query('select * from ferry_reader_of_others.mine')).rows).toEqual([{ one: 1 }])
})

test('this Ferry works on the schema of the next release, and refuses that of a later one', async () => {
  await using store = await openTestStore()
  using next = makeNewerFerry({ worksWithThis: true })
  await using migrating = migrateWith(next, store.url)
  expect((await migrating.ended).code).toBe(0)
  expect(await runFerryHere(['runs', 'list'], env(store.url))).toMatchObject({ code: 0 })
  expect(jsonLines(await runFerryHere(['migrate', '--json'], env(store.url)))).toMatchObject([
    { migrations: 0 },
  ])

  await store.pool.query('update ferry.migrations set works_since = created_at')
  expect(await runFerryHere(['runs', 'list'], env(store.url))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('newer Ferry'),
  })
})

test('`ferry migrate --plan` says what each migration does and locks, and does nothing', async () => {
  await using store = await openTestStore()
  const lock = { mode: 'AccessExclusiveLock', work: 'none' } as const
  // Of a table that nobody has analyzed, Postgres does not know how many rows it has.
  const locks = [
    { table: 'leases', ...lock },
    { table: 'workers', ...lock },
  ]
  using newer = makeNewerFerry({ sql: ADD_COLUMN, locks })
  await store.pool.query('analyze ferry.leases')
  await using planning = migrateWith(newer, store.url, ['--plan'])
  expect(jsonLines(await planning.ended)).toEqual([
    {
      migration: 'next',
      statements: [ADD_COLUMN.trim()],
      locks: locks.map(each => ({ ...each, rows: 0 })),
      isConcurrent: false,
    },
  ])
  await using forPeople = startFerry(['migrate', '--plan'], env(store.url), [], newer.entry)
  expect((await forPeople.ended).stdout).toContain('Locks leases (AccessExclusiveLock) for milliseconds')
  const upToDate = await runFerryHere(['migrate', '--plan'], env(store.url))
  expect(upToDate).toMatchObject({ code: 0, stdout: 'The database is up to date: nothing to do.\n' })

  await using database = await openEmptyDatabase()
  const first = await runFerryHere(['migrate', '--plan'], env(database.url))
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('Creates all tables') })
  expect((await database.client.query("select to_regnamespace('ferry') as there")).rows).toEqual([
    { there: null },
  ])
})

async function isWaiting(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from pg_stat_activity where datname = current_database() and application_name = 'ferry migrate'
       and wait_event_type = 'Lock'`,
  )
  return rowCount === 1
}

async function indexes(pool: Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    "select indisvalid from pg_index where indexrelid = to_regclass('ferry.leases_planted')",
  )
  return rows
}
