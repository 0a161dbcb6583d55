import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { openDatabase } from '#src/db/pool.ts'
import { SUPERUSER } from '#src/embedded/cluster.ts'
import { migrateQueue } from '#src/queue/backend.ts'
import { joinReader, prepareReader } from '#src/reports/reader-role.ts'
import { withDatabase } from '#test/support/database.ts'
import { superuserUrlOf } from '#test/support/server.ts'
import { ask, openEmbeddedHarness } from './embedded-harness.ts'

/** Everything in the database that belongs to this role, and the database itself if it does. */
const BELONGS = (role: string) => `select array_agg(name order by name) from (
  select 'database' as name from pg_database where datname = current_database() and datdba = '${role}'::regrole
  union all select 'schema ' || nspname from pg_namespace where nspowner = '${role}'::regrole and nspname !~ '^pg_' and nspname <> 'information_schema'
  union all select format('relation %s.%s', nspname, relname) from pg_class c join pg_namespace n on n.oid = relnamespace
    where relowner = '${role}'::regrole and nspname !~ '^pg_' and nspname <> 'information_schema'
  union all select format('routine %s.%s(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid)) from pg_proc p join pg_namespace n on n.oid = pronamespace
    where proowner = '${role}'::regrole and nspname !~ '^pg_' and nspname <> 'information_schema'
  union all select format('type %s.%s', nspname, typname) from pg_type t join pg_namespace n on n.oid = typnamespace
    where typowner = '${role}'::regrole and nspname !~ '^pg_' and nspname <> 'information_schema') o`

async function migrateAll(url: string): Promise<void> {
  await migrate(url)
  await migrateQueue({ databaseUrl: url, redisUrl: null })
  await using database = openDatabase(url, pino({ level: 'silent' }))
  expect(await prepareReader(database.pool)).toEqual({ status: 'ready' })
}

test('Ferry works as the owner of the database, who is no superuser and makes the role that only reads', async () => {
  await using place = await openEmbeddedHarness()
  await using postgres = await place.open()
  await migrateAll(postgres.url)

  const attributes = 'rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls'
  expect(
    await ask(postgres.url, `select row(${attributes})::text from pg_roles where rolname = current_user`),
  ).toBe('(f,t,f,f,f)')
  expect(
    await ask(
      postgres.url,
      BELONGS('current_user').replaceAll(`'current_user'::regrole`, 'current_user::regrole'),
    ),
  ).toContain('database')
  for (const attempt of [
    `copy (select 1) to program 'true'`,
    `select pg_read_file('/etc/hostname')`,
    `alter role current_user superuser`,
    `set session authorization ${SUPERUSER}`,
  ]) {
    await expect(ask(postgres.url, attempt), attempt).rejects.toMatchObject({ code: '42501' })
  }
})

test('a reader can take no advisory lock of the queue', async () => {
  await using place = await openEmbeddedHarness()
  await using postgres = await place.open()
  await migrateAll(postgres.url)
  await ask(postgres.url, `create role grafana login password 'x' in role ferry_reader`)
  const reader = Object.assign(new URL(postgres.url), { username: 'grafana', password: 'x' }).href

  expect(await ask(postgres.url, 'select pg_try_advisory_lock(1)')).toBe(true)
  for (const call of [
    'pg_advisory_lock(1)',
    'pg_try_advisory_lock_shared(1, 2)',
    'pg_advisory_xact_lock(1)',
  ]) {
    await expect(ask(reader, `select ${call}`), call).rejects.toMatchObject({ code: '42501' })
  }
})

test('a database that an older Ferry made as a superuser is handed over with everything in it, once', {
  timeout: 120_000,
}, async () => {
  await using place = await openEmbeddedHarness()
  const first = await place.open()
  const { username: owner } = new URL(first.url)
  const maintenance = withDatabase(await superuserUrlOf(place.dataDir, first.url), 'postgres')
  for (const statement of ['drop database ferry', `drop role ${owner}`, 'create database ferry']) {
    await ask(maintenance, statement)
  }
  await rm(join(await place.home(), 'owner-password'))
  const old = withDatabase(maintenance, 'ferry')
  await migrateAll(old)
  await ask(old, `insert into ferry.schedule_pauses (schedule, account) values ('prune', '*')`)
  await ask(old, `create role grafana login in role ferry_reader`)
  await ask(old, 'create schema "of theirs"')
  await ask(old, `create type "of theirs".kind as enum ('a')`)
  await ask(old, 'create table "of theirs"."T" (k "of theirs".kind)')
  const before = await ask(old, BELONGS(SUPERUSER))
  expect(before).toEqual(expect.arrayContaining(['database', 'schema ferry_queue', 'type of theirs.kind']))
  await first.close()

  await using second = await place.open()
  expect(new URL(second.url).username).toBe(owner)
  expect(await ask(second.url, BELONGS(SUPERUSER))).toBeNull()
  expect(await ask(second.url, BELONGS(owner))).toEqual(before)
  expect(await ask(second.url, 'select count(*)::int from ferry.schedule_pauses')).toBe(1)
  await migrateAll(second.url)
  await using database = openDatabase(second.url, pino({ level: 'silent' }))
  expect(await joinReader(database.pool)).toBe(true)
  await ask(second.url, `alter role grafana password 'x'`)
})

test('an older Ferry that still works in it is named, and nothing is changed until it has ended', {
  timeout: 120_000,
}, async () => {
  await using place = await openEmbeddedHarness()
  await using first = await place.open()
  const superuserUrl = await superuserUrlOf(place.dataDir, first.url)
  await ask(superuserUrl, 'create table ferry_works ()')
  await ask(superuserUrl, `alter database ferry owner to ${SUPERUSER}`)
  const older = new Client({ connectionString: superuserUrl })
  await older.connect()
  await older.query('begin; lock table ferry_works')

  await expect(place.open()).rejects.toMatchObject({
    name: 'PostgresNotRunning',
    whatToDo: expect.stringContaining('older version'),
  })
  expect(await ask(superuserUrl, BELONGS(SUPERUSER))).toContain('relation public.ferry_works')
  await older.end()
  await using again = await place.open()
  expect(await ask(again.url, BELONGS(SUPERUSER))).toBeNull()
})
