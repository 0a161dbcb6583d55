import type { Client } from 'pg'
import type { MigrationLock } from '#src/db/migration-plan.ts'
import { isConcurrent, MAKE_TABLE, type Migration } from '#src/db/run-migrations.ts'

/** What `drizzle/locks.json` has: the locks of each migration after the first one, by its name. */
export type Locks = Readonly<Record<string, readonly MigrationLock[]>>

/** Runs all migrations in an empty database, and returns the locks that each one takes on what was there before it. */
export async function measureLocks(
  client: Client,
  [first, ...later]: readonly Pick<Migration, 'name' | 'sql'>[],
): Promise<Locks> {
  await client.query(MAKE_TABLE)
  for (const statement of first?.sql ?? []) await client.query(statement)
  const measured: Record<string, readonly MigrationLock[]> = {}
  for (const { name, sql } of later) {
    measured[name] = sql.some(isConcurrent) ? sql.map(concurrentLock) : await locksOf(client, sql)
    for (const statement of sql) await client.query(statement)
  }
  return measured
}

/** Runs statements in a transaction, and returns its locks on tables and views that were there before. Changes nothing. */
export async function locksOf(
  client: Pick<Client, 'query'>,
  statements: readonly string[],
): Promise<MigrationLock[]> {
  // What earlier transactions scanned counts until the server has noted it, which it does once a second.
  await client.query('select pg_stat_force_next_flush()')
  await client.query(`begin; set local max_parallel_maintenance_workers = 0; ${REMEMBER}`)
  try {
    for (const statement of statements) await client.query(statement)
    return (await client.query<MigrationLock>(MEASURE)).rows
  } finally {
    await client.query('rollback')
  }
}

/** A table that is built or dropped concurrently is read whole, and keeps nobody from reading and writing. */
function concurrentLock(statement: string): MigrationLock {
  const [, table = ''] = /\son\s+(?:only\s+)?"?ferry"?\."?(\w+)"?/i.exec(statement) ?? []
  return { table, mode: 'ShareUpdateExclusiveLock', work: 'scan' }
}

/** What is there, and how often each was scanned and written to in this transaction, which is not at all. */
const REMEMBER = `
  create temporary table there on commit drop as
  select oid, relnamespace::regnamespace::text as schema, relname::text as name, relfilenode
  from pg_class where relnamespace in ('ferry'::regnamespace, 'ferry_internal'::regnamespace) and relkind in ('r', 'v')`

/** The strongest lock of each. A rewrite gives a table another file. */
const MEASURE = `
  select case schema when 'ferry' then name else schema || '.' || name end as table, mode,
    case when relfilenode <> coalesce((select relfilenode from pg_class c where c.oid = t.oid), 0) then 'rewrite'
      when pg_stat_get_xact_tuples_inserted(oid) + pg_stat_get_xact_tuples_updated(oid) + pg_stat_get_xact_tuples_deleted(oid) > 0
          or mode = 'RowExclusiveLock' then 'write'
      when pg_stat_get_xact_numscans(oid) > 0 then 'scan' else 'none' end as work
  from pg_temp.there t,
    lateral (select mode from pg_locks l where l.pid = pg_backend_pid() and l.relation = t.oid
      order by array_position('{AccessExclusiveLock,ExclusiveLock,ShareRowExclusiveLock,ShareLock,ShareUpdateExclusiveLock,RowExclusiveLock,RowShareLock,AccessShareLock}', mode)
      limit 1) strongest
  where mode <> 'AccessShareLock' or pg_stat_get_xact_numscans(oid) > 0
  order by 1`
