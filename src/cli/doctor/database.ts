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
  yield await checkRights(ferry.pool).catch(failed('rights'))
  yield await checkConnections(ferry).catch(failed('connections'))
  yield* orFailed('holds', openHolds(ferry.pool))
}

async function checkVersion({ pool, backend, embedded }: Ferry): Promise<Finding> {
  const { rows } = await pool.query<{ version: string }>(
    `select current_setting('server_version') as version`,
  )
  const where = embedded === null ? `at ${placeOf(backend.databaseUrl)}` : `embedded, ${embedded}`
  return {
    check: 'postgres',
    status: 'ok',
    found: `version ${rows[0]?.version}, ${where}; the schema is up to date`,
  }
}

/** Tables made by one role and used by another: the grants are easily forgotten. */
async function checkRights(pool: Pool): Promise<Finding> {
  const { rows } = await pool.query<{ name: string; role: string }>(
    `select c.oid::regclass::text as name, current_user as role from pg_class c
     where c.relnamespace = 'ferry'::regnamespace and c.relkind in ('r', 'v') and exists (
       select from unnest(case c.relkind when 'v' then '{select}' else '{select,insert,update,delete}' end::text[]) need
       where not has_table_privilege(c.oid, need))
     order by 1`,
  )
  const [first] = rows
  if (!first)
    return { check: 'rights', status: 'ok', found: 'this role may read and write every table of Ferry' }
  return {
    check: 'rights',
    status: 'fail',
    found: `the role ${first.role} may not use ${rows.map(row => row.name).join(', ')}`,
    whatToDo: `As their owner: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ferry TO "${first.role}";`,
  }
}

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
