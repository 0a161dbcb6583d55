import { randomBytes } from 'node:crypto'
import { Client, Pool } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openDatabase } from '#src/db/pool.ts'
import {
  listLockHolders,
  listMissingRights,
  loadConnectionFacts,
  loadServerFacts,
  loadTableSizes,
} from '#src/db/server-facts.ts'
import { dropRole } from '#test/support/roles.ts'
import { openTestStore } from '#test/support/store.ts'

test('of the limits of the server, the database and the role the least decides how many connections are allowed', async () => {
  await using store = await openTestStore()
  const role = `few_${randomBytes(4).toString('hex')}`
  const database = new URL(store.url).pathname.slice(1)
  await store.pool.query(`create role ${role} login password 'x' connection limit 7`)
  const url = Object.assign(new URL(store.url), { username: role, password: 'x' })
  const ofRole = new Pool({ connectionString: url.href })
  const allowed = async (pool: Pool) => (await loadConnectionFacts(pool)).allowed
  expect(await allowed(store.pool)).toBeGreaterThan(9)
  expect(await allowed(ofRole)).toBe(7)
  await store.pool.query(`alter database ${database} connection limit 9`)
  expect([await allowed(store.pool), await allowed(ofRole)]).toEqual([9, 7])
  await store.pool.query(`alter role ${role} connection limit 20`)
  expect(await allowed(ofRole)).toBe(9)
  await ofRole.end()
  await dropRole(store.pool, role)
})

test('connections with the name that the address gives them are not those of others', async () => {
  await using store = await openTestStore()
  const url = Object.assign(new URL(store.url), { search: '?application_name=reporting' })
  await using named = openDatabase(url.href, pino({ level: 'silent' }))
  const held = await Promise.all(Array.from({ length: 9 }, () => named.pool.connect()))
  const { usedByOthers } = await loadConnectionFacts(named.pool)
  // Other tests come and go.
  expect((await loadConnectionFacts(store.pool)).usedByOthers - usedByOthers).toBeGreaterThan(4)
  for (const client of held) client.release()
})

test('a session whose role was dropped meanwhile is among those that hold locks, under its number', async () => {
  await using store = await openTestStore()
  const role = `gone_${randomBytes(4).toString('hex')}`
  await store.pool.query(`create role ${role} login password 'x'`)
  await store.pool.query(`grant usage on schema ferry to ${role}; grant select on ferry.workers to ${role}`)
  const { rows } = await store.pool.query('select oid from pg_roles where rolname = $1', [role])
  const url = Object.assign(new URL(store.url), { username: role, password: 'x' })
  const client = new Client({ connectionString: url.href })
  await client.connect()
  await client.query('begin; select from ferry.workers')
  await dropRole(store.pool, role)
  const holders = await listLockHolders(store.pool)
  await client.end()
  expect(holders).toMatchObject([{ user: `unknown, number ${rows[0].oid}` }])
})

/** What a role without rights lacks, and how many objects of each kind. */
async function lacks(pool: Pool): Promise<string[]> {
  const missing = await listMissingRights(pool, ['ferry', 'ferry_internal', 'public', 'no_such'])
  return missing.map(({ kind, right, objects }) => `${kind} ${right} ${objects.length}`)
}

test('a server and a database are described as they are for the role that asks', async () => {
  await using store = await openTestStore()
  const role = `some_${randomBytes(4).toString('hex')}`
  await store.pool.query(`create role ${role} login password 'x'`)
  const { rows } = await store.pool.query(
    `select current_setting('server_version') as version, datcollversion as locale, quote_ident(current_user) as "quotedRole",
       current_user as role, current_setting('is_superuser') = 'on' as "isSuperuser"
     from pg_database where datname = current_database()`,
  )
  const { quotedRole, role: owner, isSuperuser } = rows[0]
  const usual = {
    version: rows[0].version,
    isReadOnly: false,
    isolation: 'read committed',
    madeWithLocale: rows[0].locale,
    locale: rows[0].locale,
    isPublicOpen: false,
    areLocksOpen: true,
  }
  expect(await loadServerFacts(store.pool)).toEqual({
    ...usual,
    role: owner,
    isSuperuser,
    lockers: [quotedRole],
  })
  await store.pool.query(`grant ${role} to current_user; create schema ferry_queue authorization ${role}`)
  await store.pool.query('grant create on schema public to public')
  const database = new URL(store.url).pathname.slice(1)
  await store.pool.query(`alter database ${database} set default_transaction_isolation = 'serializable'`)
  await store.pool.query(`alter database ${database} set default_transaction_read_only = on`)
  const url = Object.assign(new URL(store.url), { username: role, password: 'x' })
  const ofRole = new Pool({ connectionString: url.href })
  expect(await loadServerFacts(ofRole)).toEqual({
    ...usual,
    isReadOnly: true,
    isolation: 'serializable',
    role,
    isSuperuser: false,
    isPublicOpen: true,
    lockers: [role],
  })
  await ofRole.end()
  await store.pool.query('drop schema ferry_queue')
  await dropRole(store.pool, role)
})

test('the rights that a role lacks are all that Ferry needs, and no others', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const role = `poor_${randomBytes(4).toString('hex')}`
  await pool.query(`create role ${role} login password 'x'`)
  const database = new URL(store.url).pathname.slice(1)
  await pool.query(`revoke temporary on database ${database} from public`)
  await pool.query('create sequence public.counter; create table public.kept (id int)')
  await pool.query('revoke execute on all functions in schema ferry, ferry_internal from public')
  const url = Object.assign(new URL(store.url), { username: role, password: 'x' })
  const ofRole = new Pool({ connectionString: url.href })
  const count = async (what: string) =>
    (await pool.query<{ n: number }>(`select count(*)::int as n from ${what}`)).rows[0]!.n
  const of = (kinds: string) =>
    `pg_class where relkind in (${kinds}) and relnamespace = any ('{ferry,ferry_internal,public}'::regnamespace[])`
  const tables = await count(of("'r'"))
  const views = await count(of("'v'"))
  const functions = await count(
    `pg_proc where pronamespace = any ('{ferry,ferry_internal}'::regnamespace[]) and prorettype <> 'trigger'::regtype`,
  )
  // Only the role that migrates writes to the table of migrations, and the sequences of ferry belong to columns.
  const all = [
    'schema usage 2',
    `table delete ${tables - 1}`,
    `table insert ${tables - 1}`,
    `table select ${tables + views}`,
    `table update ${tables - 1}`,
    'sequence usage 1',
    `function execute ${functions}`,
    'database temporary 1',
  ]
  expect(await lacks(ofRole)).toEqual(all)
  expect(await listMissingRights(ofRole, ['ferry', 'public'])).toContainEqual({
    role,
    kind: 'sequence',
    right: 'usage',
    objects: ['public.counter'],
  })
  const schemas = 'schema ferry, ferry_internal, public'
  await pool.query(`grant usage on ${schemas} to ${role}`)
  await pool.query(`grant select, insert, update, delete on all tables in ${schemas} to ${role}`)
  await pool.query(`revoke insert on ferry.workers from ${role}`)
  await pool.query(`revoke select on ferry.sync_runs from ${role}`)
  await pool.query(`grant usage on sequence public.counter to ${role}`)
  await pool.query(`grant execute on all functions in ${schemas} to ${role}`)
  await pool.query(`grant temporary on database ${database} to ${role}`)
  expect(await listMissingRights(ofRole, ['ferry', 'ferry_internal', 'public'])).toEqual([
    { role, kind: 'table', right: 'insert', objects: ['ferry.workers'] },
    { role, kind: 'table', right: 'select', objects: ['ferry.sync_runs'] },
  ])
  await ofRole.end()
  await dropRole(pool, role)
})

test('the size of a table is that with its indexes, of each table of Ferry and nothing else', async () => {
  await using store = await openTestStore()
  const { rows } = await store.pool.query(
    `select tablename as table, (pg_table_size(t) + pg_indexes_size(t))::float8 as bytes
     from pg_tables cross join lateral (select format('%I.%I', schemaname, tablename)::regclass as t) t
     where schemaname = 'ferry' order by tablename collate "C"`,
  )
  expect(await loadTableSizes(store.pool)).toEqual(rows)
  expect(rows.length).toBeGreaterThan(20)
})

test('at most five sessions that hold locks on tables of Ferry are named, not those that wait', async () => {
  await using store = await openTestStore()
  const name = (n: number) => `holder ${n}`
  const open = async (n: number, statement: string) => {
    const client = new Client({ connectionString: store.url, application_name: name(n) })
    await client.connect()
    await client.query(`begin; ${statement}`)
    return client
  }
  const elsewhere = await open(0, 'select from pg_class')
  const holders: Client[] = []
  for (let n = 1; n <= 6; n++) holders.push(await open(n, 'select from ferry.workers'))
  const pids = new Map<number, string>()
  const { rows: asked } = await store.pool.query('select current_user as user')
  for (const client of holders) {
    const { rows } = await client.query(
      'select pg_backend_pid() as pid, application_name as name from pg_stat_activity where pid = pg_backend_pid()',
    )
    pids.set(rows[0].pid, rows[0].name)
  }
  const first = [...pids].sort(([a], [b]) => a - b).slice(0, 5)
  expect(await listLockHolders(store.pool)).toEqual(
    first.map(([pid, program]) => ({ pid, user: asked[0].user, program })),
  )
  for (const client of [elsewhere, ...holders]) await client.end()
})
