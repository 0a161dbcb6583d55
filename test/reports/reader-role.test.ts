import { type Client, DatabaseError } from 'pg'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '#src/db/pool.ts'
import { REPORTS } from '#src/reports/catalogue.ts'
import { prepareReader } from '#src/reports/reader-role.ts'
import { runFerryHere } from '#test/cli/run-ferry.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { dropRole } from '#test/support/roles.ts'
import { connectMember } from './member.ts'

/** A database whose reader is prepared, and a client that is connected as a member of that role, with a login. */
async function setup() {
  await using opened = new AsyncDisposableStack()
  const { url } = opened.use(await openTestDatabase())
  const { pool } = opened.use(openDatabase(url, pino({ level: 'silent' })))
  expect(await prepareReader(pool)).toEqual({ status: 'ready' })
  const member = await connectMember(opened, { url, pool })
  const kept = opened.move()
  return { pool, url, member, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Null, or the code of the error with which Postgres refuses the statement. */
async function refusal(client: Client, statement: string): Promise<string | null> {
  await client.query('begin')
  try {
    await client.query(statement)
    return null
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    return error.code ?? ''
  } finally {
    await client.query('rollback')
  }
}

const DENIED = '42501'

/** All of these tables, and these columns of others: nothing else is kept from the role. */
const HIDDEN = [
  'ferry.database_changes.found',
  'ferry.database_changes.known',
  'ferry.import_batches.claim',
  'ferry.import_batches.message',
  'ferry.import_batches.reasons',
  'ferry.import_left_out',
  'ferry.import_recipients',
  'ferry.import_rejects',
  'ferry.installation',
  'ferry.known_database',
  'ferry.leases.token',
  'ferry.platform_calls.limit_key',
  'ferry.platform_limits.limit_key',
  'ferry.quarantined_rows.raw',
  'ferry.sync_runs.data_hashes',
  'ferry.sync_runs.lease_token',
  'ferry.sync_runs.scope',
]

type Column = { relation: string; column: string; kind: string }

describe('a member of ferry_reader', () => {
  test('may read every column of every table and view but those that are hidden', async () => {
    await using database = await setup()
    const { rows: columns } = await database.pool.query<Column>(
      `select c.oid::regclass::text as relation, attname as column, relkind as kind from pg_class c
       join pg_attribute a on attrelid = c.oid and attnum > 0 and not attisdropped
       where relnamespace in ('ferry'::regnamespace, 'ferry_internal'::regnamespace) and relkind in ('r', 'v', 'm', 'p', 'f')`,
    )
    expect(columns.length).toBeGreaterThan(300)
    const denied: string[] = []
    for (const { relation, column } of columns) {
      const code = await refusal(database.member, `select "${column}" from ${relation} limit 1`)
      expect([null, DENIED], `${relation}.${column}`).toContain(code)
      if (code === DENIED) denied.push(`${relation}.${column}`)
    }
    const isHidden = ({ relation, column }: Column) =>
      HIDDEN.includes(relation) || HIDDEN.includes(`${relation}.${column}`)
    expect(denied.sort()).toEqual(
      columns
        .filter(isHidden)
        .map(({ relation, column }) => `${relation}.${column}`)
        .sort(),
    )
    for (const name of [
      'recipient',
      'recipient_hash',
      'raw',
      'data_hashes',
      'lease_token',
      'token',
      'claim',
    ]) {
      expect(
        denied.some(each => each.endsWith(`.${name}`)),
        name,
      ).toBe(true)
      const seen = columns.filter(
        ({ relation, column }) => column === name && !denied.includes(`${relation}.${column}`),
      )
      expect(seen, name).toEqual([])
    }
  })

  test('may write nothing, create nothing, and read no other schema of Ferry', async () => {
    await using database = await setup()
    const { rows: tables } = await database.pool.query<Column>(
      `select oid::regclass::text as relation from pg_class
       where relnamespace in ('ferry'::regnamespace, 'ferry_internal'::regnamespace) and relkind in ('r', 'v')`,
    )
    for (const { relation } of tables) {
      expect(await refusal(database.member, `delete from ${relation}`), relation).not.toBe(null)
      expect(await refusal(database.member, `truncate ${relation}`), relation).not.toBe(null)
    }
    expect(await refusal(database.member, 'create table ferry.mine ()')).toBe(DENIED)
    await database.pool.query('create schema ferry_queue; create table ferry_queue.jobs (data text)')
    expect(await refusal(database.member, 'select * from ferry_queue.jobs')).toBe(DENIED)
  })

  test('may call no function that writes', async () => {
    await using database = await setup()
    const { rows: functions } = await database.pool.query<{ call: string }>(
      `select format('select %s.%I(%s)', pronamespace::regnamespace, proname, (
          select string_agg('null::' || format_type(t, null), ', ' order by n)
          from unnest(proargtypes) with ordinality a (t, n))) as call
       from pg_proc where pronamespace::regnamespace::text in ('ferry', 'ferry_internal') and provolatile = 'v' and prorettype <> 'trigger'::regtype`,
    )
    expect(functions.length).toBeGreaterThan(5)
    for (const { call } of functions) {
      await expect(database.member.query(call), call).rejects.toMatchObject({
        code: DENIED,
        message: expect.stringContaining('permission denied for function'),
      })
    }
  })

  test('may run every report', async () => {
    await using database = await setup()
    for (const { query, takes } of REPORTS) {
      await database.member.query(
        query,
        takes.map(() => null),
      )
    }
  })
})

describe('the role ferry_reader', () => {
  test('loses what an earlier version advised to grant, and what was granted by hand', async () => {
    await using database = await setup()
    await database.pool.query(`
      grant select on all tables in schema ferry to ferry_reader;
      grant insert on ferry.imports to ferry_reader;
      grant select (recipient) on ferry.import_recipients to ferry_reader;
      alter default privileges in schema ferry grant select on tables to ferry_reader`)
    expect(await refusal(database.member, 'select recipient from ferry.import_recipients')).toBe(null)
    expect(await prepareReader(database.pool)).toEqual({ status: 'ready' })
    expect(await refusal(database.member, 'select recipient from ferry.import_recipients')).toBe(DENIED)
    expect(await refusal(database.member, 'insert into ferry.imports default values')).toBe(DENIED)
    await database.pool.query(
      'create table ferry.later (recipient text); create view ferry.later_view as select 1 as n',
    )
    expect(await refusal(database.member, 'select * from ferry.later')).toBe(DENIED)
    expect(await refusal(database.member, 'select * from ferry.later_view')).toBe(DENIED)
    await prepareReader(database.pool)
    expect(await refusal(database.member, 'select * from ferry.later')).toBe(DENIED)
    expect(await refusal(database.member, 'select * from ferry.later_view')).toBe(null)
  })

  test.each(['insert', 'update', 'delete', 'truncate'])(
    'loses the right to %s, if that alone was granted by hand',
    async right => {
      await using database = await setup()
      await database.pool.query(`grant ${right} on ferry.workers to ferry_reader`)
      expect(await prepareReader(database.pool)).toEqual({ status: 'ready' })
      const { rows } = await database.pool.query(
        `select has_table_privilege('ferry_reader', 'ferry.workers', $1) as has`,
        [right],
      )
      expect(rows).toEqual([{ has: false }])
    },
  )

  test.each(['ferry', 'ferry_internal'])(
    'gets the way into the schema %s back that is gone',
    async schema => {
      await using database = await setup()
      await database.pool.query(`revoke usage on schema ${schema} from ferry_reader`)
      expect(await prepareReader(database.pool)).toEqual({ status: 'ready' })
      const { rows } = await database.pool.query(
        `select has_schema_privilege('ferry_reader', $1, 'usage') as has`,
        [schema],
      )
      expect(rows).toEqual([{ has: true }])
    },
  )

  test('loses a function that writes and was granted by hand, or made since', async () => {
    await using database = await setup()
    await database.pool.query(`grant execute on function ferry_internal.count_rest() to ferry_reader;
      create function ferry.later() returns void language sql as ''`)
    expect(await prepareReader(database.pool)).toEqual({ status: 'ready' })
    const { rows } = await database.pool.query(
      `select name from unnest('{ferry_internal.count_rest(),ferry.later()}'::text[]) name
       where has_function_privilege('ferry_reader', name, 'execute')`,
    )
    expect(rows).toEqual([])
  })

  test('is shared by the databases of a server, and prepared by many processes at once', async () => {
    await using one = await openTestDatabase()
    await using other = await openTestDatabase()
    const prepare = async (url: string) => {
      await using database = openDatabase(url, pino({ level: 'silent' }))
      return await prepareReader(database.pool)
    }
    const states = await Promise.all([one, one, other, one, other].map(({ url }) => prepare(url)))
    expect(states).toEqual(states.map(() => ({ status: 'ready' })))
  })

  test('is left to somebody else by a role that may not give its rights: `ferry migrate` prints the SQL', async () => {
    await using database = await setup()
    const { rows } = await database.pool.query<{ name: string }>('select current_database() as name')
    const role = `plain_${rows[0]?.name.slice(-8)}`
    await database.pool.query(`create role ${role} login password 'x';
      grant usage on schema ferry to ${role}; grant select, insert, update on all tables in schema ferry to ${role}`)
    await database.pool.query('create view ferry.later_view as select 1 as n')
    const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href
    try {
      await using plain = openDatabase(url, pino({ level: 'silent' }))
      const state = await prepareReader(plain.pool)
      expect(state.status).toBe('refused')
      const statements = 'statements' in state ? state.statements : []
      expect(statements.join('\n')).not.toContain('create role')
      for (const statement of statements) await database.pool.query(statement)
      expect(await prepareReader(plain.pool)).toEqual({ status: 'ready' })
    } finally {
      await dropRole(database.pool, role)
    }
  })

  test('`ferry migrate` says whether it is ready', async () => {
    await using database = await openTestDatabase()
    const env = { DATABASE_URL: database.url, REDIS_URL: '', FERRY_DATA_DIR: '/nonexistent/ferry' }
    const ended = await runFerryHere(['migrate', '--json'], env)
    expect(ended).toMatchObject({ code: 0, stdout: '{"migrations":0,"reader":"ready"}\n' })
  })
})
