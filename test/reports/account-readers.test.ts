import { randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '#src/db/pool.ts'
import {
  type AccountReader,
  listStaleAccountReaders,
  prepareAccountReader,
  refreshAccountReaders,
} from '#src/reports/account-readers.ts'
import { jsonLines, runFerryHere } from '#test/cli/run-ferry.ts'
import { blocksOf, readPage, sectionOf } from '#test/docs/pages.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { dropRole } from '#test/support/roles.ts'

const SILENT = pino({ level: 'silent' })

/** A database with one run of an account whose name no other test has, whose role is dropped at the end if it is there. */
async function setup() {
  await using opened = new AsyncDisposableStack()
  const { url, name } = opened.use(await openTestDatabase())
  const { pool } = opened.use(openDatabase(url, SILENT))
  const account = `acme-${randomBytes(4).toString('hex')}`
  const role = `ferry_reader_${account}`
  opened.defer(async () => {
    const { rowCount } = await pool.query('select from pg_roles where rolname = $1', [role])
    if (rowCount) await dropRole(pool, `"${role}"`)
  })
  await pool.query(
    `insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders)
     values ($1, 'alert-rules', '1 hour', 'poll', 'UTC', '["0"]')`,
    [account],
  )
  await pool.query(
    `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status)
     values ($1, 'alert-rules', 'manual', '{}', '', 1, 'failed')`,
    [account],
  )
  const kept = opened.move()
  const env = { DATABASE_URL: url, REDIS_URL: '', FERRY_DATA_DIR: '/nonexistent/ferry' }
  return { pool, url, name, account, role, env, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** What is in the schema, which rights there are, and when each was written. */
async function stateOf(pool: Pool, role: string) {
  const { rows } = await pool.query(
    `select n.xmin::text as schema, obj_description(n.oid, 'pg_namespace') as comment, n.nspacl::text as rights,
       (select string_agg(c.relname || c.xmin::text || coalesce(c.relacl::text, ''), ',' order by c.relname) from pg_class c where relnamespace = n.oid) as views,
       (select string_agg(p.proname || p.xmin::text || coalesce(p.proacl::text, ''), ',' order by p.proname) from pg_proc p where pronamespace = n.oid) as functions
     from pg_namespace n where nspname = $1`,
    [role],
  )
  return rows[0]
}

describe('`ferry migrate --reader-of`', () => {
  test('makes a role that sees the account; the second time it changes nothing', async () => {
    await using database = await setup()
    const { pool, account, role, env } = database
    const ended = await runFerryHere(['migrate', '--reader-of', account, '--reader-of', account], env)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toBe(
      `The database is up to date.\nThe role ${role} sees the account ${account} only, in the schema ${role}.\n`,
    )
    const before = await stateOf(pool, role)
    expect(before.views.split(',').length).toBeGreaterThan(40)
    const again = await runFerryHere(['migrate', '--reader-of', account, '--json'], env)
    expect(JSON.parse(again.stdout)).toEqual({
      migrations: 0,
      reader: 'ready',
      readersOf: [{ account, role, status: 'ready' }],
    })
    // Without the option, it looks after those that there are.
    expect((await runFerryHere(['migrate', '--json'], env)).stdout).toBe(again.stdout)
    expect(await stateOf(pool, role)).toEqual(before)
    const doctor = await runFerryHere(['doctor', '--json'], env)
    expect(doctor.stdout).toContain('"check":"reader","status":"ok"')
  })

  test('refuses an account that nobody knows, and names those that are known', async () => {
    await using database = await setup()
    const { pool, account, env } = database
    const ended = await runFerryHere(['migrate', '--reader-of', 'zzzzzzzzzzzzzzzzzzzzzzzz'], env)
    expect(ended).toMatchObject({
      code: 2,
      stderr: `ferry: "zzzzzzzzzzzzzzzzzzzzzzzz" is not an account; known: ${account}\n`,
    })
    const { rows } = await pool.query(`select from pg_namespace where nspname like 'ferry\\_reader%'`)
    expect(rows).toEqual([])
  })

  test('refuses an account whose name is too long for a role', async () => {
    await using database = await setup()
    const long = 'a'.repeat(51)
    await database.pool.query(
      `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status)
       values ($1, 'alert-rules', 'manual', '{}', '', 1, 'failed')`,
      [long],
    )
    expect(await runFerryHere(['migrate', '--reader-of', long], database.env)).toMatchObject({
      code: 2,
      stderr: `ferry: The name of the account ${long} is too long: the role ferry_reader_${long} would have more than 63 bytes.\n`,
    })
  })

  test('works with any name that an account had', async () => {
    await using database = await setup()
    const { pool } = database
    const odd = `"; drop schema ferry; --' \\ ${database.account.slice(-8)}`
    await pool.query('update ferry.sync_runs set account = $1', [odd])
    expect(await prepareAccountReader(pool, odd)).toMatchObject({ status: 'ready' })
    const role = `"${`ferry_reader_${odd}`.replaceAll('"', '""')}"`
    try {
      await pool.query(`grant ${role} to current_user`)
      const { rows } = await pool.query(`select account from ${role}.sync_runs`)
      expect(rows).toEqual([{ account: odd }])
      expect(await refreshAccountReaders(pool)).toMatchObject([{ account: odd, status: 'ready' }])
    } finally {
      await dropRole(pool, role)
    }
  })

  test('leaves a schema of that name alone that is not its own', async () => {
    await using database = await setup()
    const { pool, account, role, env } = database
    await pool.query(`create schema "${role}"; create table "${role}".mine ()`)
    const ended = await runFerryHere(['migrate', '--reader-of', account], env)
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain(`The schema ${role} exists, and Ferry has not made it.`)
    await pool.query(`select from "${role}".mine`)
    expect(await refreshAccountReaders(pool)).toEqual([])
  })
})

describe('the role of the readers of an account', () => {
  test.each([
    ['a table of Ferry', (role: string) => `grant select on ferry.alert_rules to ${role}`],
    ['a column', (role: string) => `grant select (recipient) on ferry.import_recipients to ${role}`],
    ['the right to write', (role: string) => `grant insert on ferry.imports to ${role}`],
    ['the right to change rows', (role: string) => `grant update on ferry.imports to ${role}`],
    ['the right to refer to rows', (role: string) => `grant references on ferry.imports to ${role}`],
  ])('loses %s that was granted by hand', async (_, grant) => {
    await using database = await setup()
    const { pool, account, role } = database
    await prepareAccountReader(pool, account)
    await pool.query(grant(`"${role}"`))
    expect(await listStaleAccountReaders(pool)).toEqual([account])
    expect(await refreshAccountReaders(pool)).toMatchObject([{ account, status: 'ready' }])
    expect(await listStaleAccountReaders(pool)).toEqual([])
    const { rows } = await pool.query(
      `select c.relname from pg_class c where relnamespace = 'ferry'::regnamespace and relkind in ('r', 'v')
       and has_any_column_privilege($1, c.oid, 'select, insert, update, references')`,
      [role],
    )
    expect(rows).toEqual([{ relname: 'history' }])
  })

  test.each([
    ['a view', (role: string) => `drop view ${role}.alert_rules`],
    ['a right', (role: string) => `revoke select on ${role}.alert_rules from ${role}`],
    ['the way in', (role: string) => `revoke usage on schema ${role} from ${role}`],
    ['the start of the history', (role: string) => `revoke select on ferry.history from ${role}`],
  ])('gets %s back that is gone', async (_, take) => {
    await using database = await setup()
    const { pool, account, role } = database
    await prepareAccountReader(pool, account)
    await pool.query(take(`"${role}"`))
    expect(await listStaleAccountReaders(pool)).toEqual([account])
    await refreshAccountReaders(pool)
    expect(await listStaleAccountReaders(pool)).toEqual([])
  })

  test('is told of by doctor if it has not what it should have', async () => {
    await using database = await setup()
    const { pool, account, role, env } = database
    await runFerryHere(['migrate', '--reader-of', account], env)
    await pool.query(`drop view "${role}".alert_rules`)
    const found = jsonLines(await runFerryHere(['doctor', '--json'], env)).filter(
      ({ check }) => check === 'reader',
    )
    expect(found).toMatchObject([
      {
        status: 'warn',
        found: `what readers of one account see is not up to date, or they may see more: ${account}`,
      },
    ])
  })

  test('sees what is new in schema ferry once it was prepared, if it is of the account', async () => {
    await using database = await setup()
    const { pool, account, role } = database
    await prepareAccountReader(pool, account)
    await pool.query(`create view ferry.later as select 'x'::text as account, 1 as n;
      create view ferry.of_all as select 1 as n;
      create table ferry.later_table (account text)`)
    expect(await refreshAccountReaders(pool)).toMatchObject([{ status: 'ready' }])
    const { rows } = await pool.query(
      `select relname from pg_class where relnamespace = $1::regnamespace and relname in ('later', 'of_all', 'later_table')`,
      [`"${role}"`],
    )
    expect(rows).toEqual([{ relname: 'later' }])
    await pool.query(
      `create or replace view ferry.later as select 'x'::text as account, 1 as n, 2 as another`,
    )
    await refreshAccountReaders(pool)
    await pool.query(`select another from "${role}".later`)
  })

  test('can be taken away: its schema goes with it, or with the next migration', async () => {
    await using database = await setup()
    const { pool, account, role, env } = database
    await prepareAccountReader(pool, account)
    await dropRole(pool, `"${role}"`)
    expect(await runFerryHere(['migrate', '--json'], env)).toMatchObject({
      code: 0,
      stdout: '{"migrations":0,"reader":"ready"}\n',
    })
    const schemas = await pool.query('select from pg_namespace where nspname = $1', [role])
    expect(schemas.rows).toEqual([])
    expect(await prepareAccountReader(pool, account)).toMatchObject({ status: 'ready' })
  })

  test('gets a login and goes away with the SQL of the docs', async () => {
    await using database = await setup()
    const { pool, account, role } = database
    await prepareAccountReader(pool, account)
    const blocks = blocksOf(sectionOf(readPage('docs/operators.md'), 'Readers of one account'), 'sql')
    expect(blocks.length).toBe(2)
    for (const block of blocks) {
      await pool.query(
        block.replaceAll('ferry_reader_default', `"${role}"`).replaceAll(/\bbi\b/g, `"bi_${account}"`),
      )
    }
    const { rows } = await pool.query('select from pg_roles where rolname in ($1, $2)', [
      role,
      `bi_${account}`,
    ])
    expect(rows).toEqual([])
  })

  test('waits for a query that uses its schema, and says so if that does not end', async () => {
    await using opened = new AsyncDisposableStack()
    const { pool, account, role, url, env } = opened.use(await setup())
    await prepareAccountReader(pool, account)
    await pool.query('create view ferry.later as select 1 as n, null::text as account')
    const reader = new Client({ connectionString: url })
    await reader.connect()
    opened.defer(() => reader.end())
    await reader.query(`begin; select from "${role}".alert_rules`)
    const ended = await runFerryHere(['migrate'], env)
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain(`the schema ${role} is not up to date: others are using it`)
    await reader.query('commit')
    expect((await runFerryHere(['migrate'], env)).code).toBe(0)
  })

  test('is left to somebody else by a role that may not make it: the SQL is printed', async () => {
    await using opened = new AsyncDisposableStack()
    const { pool, account, role, url, name, env } = opened.use(await setup())
    const plain = `plain_${name.slice(-8)}`
    await pool.query(`create role ${plain} login password 'x';
      grant usage on schema ferry, ferry_internal to ${plain}; grant select, insert, update on all tables in schema ferry to ${plain}`)
    opened.defer(() => dropRole(pool, plain))
    const plainUrl = Object.assign(new URL(url), { username: plain, password: 'x' }).href
    const { pool: plainPool } = opened.use(openDatabase(plainUrl, SILENT))
    const state: AccountReader = await prepareAccountReader(plainPool, account)
    expect(state).toMatchObject({
      status: 'refused',
      role,
      why: expect.stringContaining('permission denied'),
    })
    for (const statement of state.statements) await pool.query(statement)
    expect(await prepareAccountReader(plainPool, account)).toMatchObject({ status: 'ready' })
    const { rows } = await pool.query(
      `select distinct pg_get_userbyid(proowner) = pg_get_userbyid(relowner) as is_same from pg_proc, pg_class
       where pronamespace = $1::regnamespace and pg_class.oid = 'ferry.imports'::regclass`,
      [`"${role}"`],
    )
    expect(rows).toEqual([{ is_same: true }])
    expect((await runFerryHere(['migrate'], env)).code).toBe(0)
    await dropRole(pool, `"${role}"`)
    expect(await refreshAccountReaders(plainPool)).toEqual([])
    expect(await listStaleAccountReaders(pool)).toEqual([account])
  })
})
