import { readFileSync } from 'node:fs'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { type MigrationLock, problemsOf } from '#src/db/migration-plan.ts'
import { readMigrations } from '#src/db/run-migrations.ts'
import { FOLDER } from '#src/db/schema-state.ts'
import { openEmptyDatabase } from '#test/support/database.ts'
import { openTestStore } from '#test/support/store.ts'
import { locksOf, measureLocks } from '../../drizzle/locks.ts'

/* The rule of CONTRIBUTING.md for migrations: workers of the release before work beside them. */

test('each migration after the first lets workers work, and has the locks that drizzle/locks.json says', async () => {
  await using database = await openEmptyDatabase()
  const locks = await measureLocks(database.client, await readMigrations())
  expect(locks).toEqual(JSON.parse(readFileSync(`${FOLDER}/locks.json`, 'utf8')))
  expect(Object.fromEntries(Object.entries(locks).map(([name, all]) => [name, problemsOf(all)]))).toEqual(
    Object.fromEntries(Object.keys(locks).map(name => [name, []])),
  )
})

const ADD_CHECK = 'alter table ferry.leases add constraint planted check (name <> $$$$) not valid'

test.each([
  ['a column', ['alter table ferry.leases add column note text'], []],
  ['a column with a constant', ["alter table ferry.leases add column note text not null default ''"], []],
  ['a table with an index', ['create table ferry.t (a int)', 'create index on ferry.t (a)'], []],
  ['a view', ['create or replace view ferry.planted as select 1 as one'], []],
  ['a check that looks at nothing', [ADD_CHECK], []],
  [
    'a new default for each row',
    ['alter table ferry.leases add column u uuid default gen_random_uuid()'],
    ['rewrites leases'],
  ],
  ['another type', ['alter table ferry.workers alter column pid type bigint'], ['rewrites workers']],
  [
    'a column that may not be null',
    ['alter table ferry.workers alter column version set not null'],
    ['reads workers'],
  ],
  ['an index', ['create index on ferry.leases (holder)'], ['reads leases while it has ShareLock']],
  [
    'a check that looks at all rows',
    [ADD_CHECK, 'alter table ferry.leases validate constraint planted'],
    ['reads leases while'],
  ],
  [
    'a foreign key',
    [
      'create table ferry.t (w text references ferry.workers)',
      'alter table ferry.leases add foreign key (holder) references ferry.workers',
    ],
    ['reads leases'],
  ],
  ['a change of rows', ['update ferry.leases set holder = upper(holder)'], ['writes rows of leases']],
])('a migration with %s is judged by what Postgres locks and reads', async (_, statements, problems) => {
  await using store = await openTestStore()
  const found = problemsOf(await locksIn(store.pool, statements))
  expect(found).toEqual(problems.map(problem => expect.stringContaining(problem)))
  const { rows } = await store.pool.query(
    "select to_regclass('ferry.t') as there, count(*) from pg_constraint where conname = 'planted'",
  )
  expect(rows).toEqual([{ there: null, count: '0' }])
})

test('to check rows in a migration of its own keeps nobody from writing', async () => {
  await using store = await openTestStore()
  await store.pool.query(ADD_CHECK)
  const validate = ['alter table ferry.leases validate constraint planted']
  const locks = await locksIn(store.pool, validate)
  expect(locks).toEqual([{ table: 'leases', mode: 'ShareUpdateExclusiveLock', work: 'scan' }])
  expect(problemsOf(locks)).toEqual([])
})

async function locksIn(pool: Pool, statements: readonly string[]): Promise<MigrationLock[]> {
  const client = await pool.connect()
  try {
    return await locksOf(client, statements)
  } finally {
    client.release()
  }
}
