import type { Pool } from 'pg'
import type { Ferry } from '#src/ferry.ts'
import { connectionBudget } from '#src/queue/backend.ts'
import { poolSizeOf } from '#src/store/database.ts'
import { placeOf } from '#src/store/place.ts'
import { counted } from '../output.ts'
import { type Finding, failed, orFailed } from './finding.ts'

/** That it is new enough, and migrated, is known: otherwise Ferry had not opened. */
export async function* databaseFindings(ferry: Ferry): AsyncGenerator<Finding> {
  yield await checkVersion(ferry).catch(failed('postgres'))
  yield* orFailed('isolation', otherIsolation(ferry.pool))
  yield await checkRights(ferry.pool).catch(failed('rights'))
  yield await checkConnections(ferry).catch(failed('connections'))
  yield* orFailed('holds', openHolds(ferry.pool))
}

async function checkVersion({ pool, backend, embedded }: Ferry): Promise<Finding> {
  const { rows } = await pool.query<{ version: string; takesNoWrites: boolean }>(
    `select current_setting('server_version') as version,
       pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "takesNoWrites"`,
  )
  const where = embedded === null ? `at ${placeOf(backend.databaseUrl)}` : `embedded, ${embedded}`
  const found = `version ${rows[0]?.version}, ${where}`
  if (rows[0]?.takesNoWrites) {
    return {
      check: 'postgres',
      status: 'fail',
      found: `${found}; it takes no writes`,
      whatToDo:
        'It is a standby, or a failover is under way: wait, or name the primary in DATABASE_URL. If it is neither, ' +
        'default_transaction_read_only is on for this server, database or role.',
    }
  }
  return { check: 'postgres', status: 'ok', found: `${found}; the schema is up to date` }
}

/** Only where it is not what Postgres has by default. */
async function* otherIsolation(pool: Pool): AsyncGenerator<Finding> {
  const { rows } = await pool.query<{ isolation: string }>(
    `select current_setting('default_transaction_isolation') as isolation`,
  )
  const { isolation = 'read committed' } = rows[0] ?? {}
  if (isolation === 'read committed') return
  yield {
    check: 'isolation',
    status: 'ok',
    found: `the default here is ${isolation}; Ferry's own transactions are all read committed, which its limits need`,
  }
}

/** Tables made by one role and used by another: the grants are easily forgotten. */
async function checkRights(pool: Pool): Promise<Finding> {
  const { rows } = await pool.query<{ lacks: string; role: string }>(LACKING_RIGHTS)
  const [first] = rows
  if (!first) {
    return { check: 'rights', status: 'ok', found: 'this role may do all that Ferry does with its tables' }
  }
  return {
    check: 'rights',
    status: 'fail',
    found: `the role ${first.role} lacks rights: ${rows.map(row => row.lacks).join('; ')}`,
    whatToDo:
      `As their owner: GRANT USAGE ON SCHEMA ferry, ferry_queue TO "${first.role}"; ` +
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ferry, ferry_queue TO "${first.role}"; ` +
      `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ferry, ferry_queue TO "${first.role}"; ` +
      `GRANT TEMPORARY ON DATABASE … TO "${first.role}"; (docs/operators.md, "Two roles")`,
  }
}

/** The queue's schema is there only if the queue has lived in Postgres. */
const LACKING_RIGHTS = `
  with places as (select oid, nspname from pg_namespace where nspname in ('ferry', 'ferry_queue'))
  select current_user as role, lacks from (
    select 1 as place, 'usage of the schema ' || nspname as lacks from places where not has_schema_privilege(oid, 'usage')
    union all
    select 2, need || ' on ' || string_agg(nspname || '.' || relname, ', ' order by relname)
      from pg_class c join places p on p.oid = relnamespace,
        unnest(case relkind when 'v' then '{select}' else '{select,insert,update,delete}' end::text[]) need
      where relkind in ('r', 'v') and not (nspname = 'ferry' and relname = 'migrations' and need <> 'select')
        and not has_table_privilege(c.oid, need)
      group by need
    union all
    select 3, 'usage of the sequence ' || nspname || '.' || relname from pg_class c join places p on p.oid = relnamespace
      where nspname = 'ferry_queue' and case relkind when 'S' then not has_sequence_privilege(c.oid, 'usage') end
    union all
    select 4, 'temporary tables, which imports are staged with'
      where not has_database_privilege(current_database(), 'temporary')
  ) l order by place, lacks`

/** What the server, the database and the role allow, less what others use, against what one worker may take. */
async function checkConnections({ pool, backend, embedded, config }: Ferry): Promise<Finding> {
  const perWorker =
    poolSizeOf(config.workerConcurrency) + connectionBudget(backend).postgres + (embedded === null ? 0 : 1)
  const { rows } = await pool.query<{ allowed: number; others: number }>(
    `select least(
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
       (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as allowed,
     (select count(*)::int from pg_stat_activity
      where backend_type = 'client backend' and application_name not like 'ferry%') as others`,
  )
  const { allowed = 0, others = 0 } = rows[0] ?? {}
  const workers = Math.floor((allowed - others) / perWorker)
  const found = `${allowed} connections allowed, ${others} used by others; a worker takes up to ${perWorker}`
  if (workers >= 1)
    return { check: 'connections', status: 'ok', found: `${found}: room for ${workers} workers` }
  const whatToDo =
    'Raise max_connections (or the limit of the database or role), or set REDIS_URL, which takes fewer.'
  return { check: 'connections', status: 'fail', found: `${found}: no room for one`, whatToDo }
}

async function* openHolds(pool: Pool): AsyncGenerator<Finding> {
  const { rows } = await pool.query<{ account: string; resource: string; last_run: string; held: number }>(
    `select account, resource, last_run, cardinality(ids) as held from ferry.removal_holds
     where ended_at is null order by account, resource`,
  )
  for (const { account, resource, last_run, held } of rows) {
    yield {
      check: 'holds',
      status: 'warn',
      found: `account ${account}, ${resource}: the removal of ${counted(held, 'row')} waits for a decision`,
      whatToDo: `\`ferry runs show ${last_run}\`, then \`ferry runs approve ${last_run}\` if they are gone indeed, \`ferry runs reject ${last_run}\` if not.`,
    }
  }
  if (rows.length === 0) yield { check: 'holds', status: 'ok', found: 'no removal waits for a decision' }
}
