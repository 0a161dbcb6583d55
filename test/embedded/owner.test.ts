import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { openDatabase } from '#src/db/pool.ts'
import { SUPERUSER } from '#src/embedded/cluster.ts'
import { migrateQueue } from '#src/queue/backend.ts'
import { prepareReader } from '#src/reports/reader-role.ts'
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

test('a database from before the first release is refused, and left as it is', async () => {
  await using place = await openEmbeddedHarness()
  const first = await place.open()
  const superuserUrl = await superuserUrlOf(place.dataDir, first.url)
  await ask(superuserUrl, 'create schema ferry')
  await ask(superuserUrl, `alter database ferry owner to ${SUPERUSER}`)
  const password = join(await place.home(), 'owner-password')
  await rm(password)
  await first.close()

  await expect(place.open()).rejects.toMatchObject({
    name: 'PostgresNotRunning',
    message: expect.stringContaining('from before the first release'),
    whatToDo: expect.stringContaining('FERRY_DATA_DIR'),
  })
  expect(existsSync(password)).toBe(false)
})

test('a start that was cut off before the database had its owner is completed by the next one', async () => {
  await using place = await openEmbeddedHarness()
  const first = await place.open()
  const maintenance = withDatabase(await superuserUrlOf(place.dataDir, first.url), 'postgres')
  for (const statement of ['drop database ferry', 'create database ferry']) await ask(maintenance, statement)
  await first.close()

  await using second = await place.open()
  const { username: owner } = new URL(second.url)
  expect(
    await ask(second.url, 'select datdba::regrole::text from pg_database where datname = current_database()'),
  ).toBe(owner)
  await migrateAll(second.url)
})
