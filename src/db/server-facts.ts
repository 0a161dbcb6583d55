import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, findOne, type Queryable } from './rows.ts'

/** Facts that the server and the database report about themselves. */
const ServerFacts = z.object({
  version: z.string(),
  /** It is a standby, or transactions are read-only by default. */
  isReadOnly: z.boolean(),
  /** The database's default isolation level, such as `read committed`. */
  isolation: z.string(),
  /**
   * The version of the locale that the database was made with, and the one that the server has now, if they differ: then the
   * order of text may have changed since an index was built. Null for a locale without versions, such as C.
   */
  madeWithLocale: z.string().nullable(),
  locale: z.string().nullable(),
  /** The role as which Ferry works here. */
  role: z.string(),
  isSuperuser: z.boolean(),
  /** Every role may create objects in the schema `public`, where Postgres looks names up for this role. */
  isPublicOpen: z.boolean(),
  /** Every role may take advisory locks in this database, those that the queue in Postgres works under among them. */
  areLocksOpen: z.boolean(),
  /** The roles that need these locks, quoted: this one, and the owner of the queue's tables. */
  lockers: z.array(z.string()),
})
export type ServerFacts = Readonly<z.infer<typeof ServerFacts>>

export function loadServerFacts(pool: Pool): Promise<ServerFacts> {
  return findOne(
    pool,
    ServerFacts,
    `select current_setting('server_version') as version,
       pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as is_read_only,
       current_setting('default_transaction_isolation') as isolation,
       (select datcollversion from pg_database where datname = current_database()) as made_with_locale,
       (select pg_database_collation_actual_version(oid) from pg_database where datname = current_database()) as locale,
       current_user as role, current_setting('is_superuser') = 'on' as is_superuser,
       exists (select from pg_namespace where nspname = 'public' and has_schema_privilege('public', oid, 'create'))
         as is_public_open,
       exists (select from pg_proc where pronamespace = 'pg_catalog'::regnamespace
         and proname ~ '^pg_(try_)?advisory_(xact_)?lock' and has_function_privilege('public', oid, 'execute')) as are_locks_open,
       array(select quote_ident(rolname) from pg_roles where rolname = current_user
         or oid = (select nspowner from pg_namespace where nspname = 'ferry_queue') order by 1) as lockers`,
  )
}

/**
 * How many connections this role may open here, and how many of them programs other than Ferry use. The first is the
 * least of what the server, the database and the role allow.
 */
const ConnectionFacts = z.object({ allowed: z.number(), usedByOthers: z.number() })
export type ConnectionFacts = Readonly<z.infer<typeof ConnectionFacts>>

export function loadConnectionFacts(pool: Pool): Promise<ConnectionFacts> {
  return findOne(
    pool,
    ConnectionFacts,
    `select least(
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
       (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as allowed,
     -- Of other users' sessions only few columns are shown, and what kind of session it is is not among them.
     (select count(*)::int from pg_stat_activity
      where datid is not null and usesysid is not null and coalesce(backend_type, 'client backend') = 'client backend'
        and application_name not like 'ferry%' and application_name <> current_setting('application_name')) as used_by_others`,
  )
}

/** A right that this role lacks, and the objects it lacks it on. */
const MissingRight = z.object({
  role: z.string(),
  kind: z.enum(['schema', 'table', 'sequence', 'function', 'database']),
  /** `usage`, `select`, `insert`, `update`, `delete`, `execute` or `temporary`. */
  right: z.string(),
  /** Tables, sequences and functions with their schema. */
  objects: z.array(z.string()),
})
export type MissingRight = Readonly<z.infer<typeof MissingRight>>

/** Lists what this role lacks to work with the tables, views, sequences and functions of `schemas`, those that exist. */
export function listMissingRights(pool: Pool, schemas: readonly string[]): Promise<MissingRight[]> {
  return findAll(pool, MissingRight, MISSING_RIGHTS, [schemas])
}

/**
 * The sequences of `ferry` need no right: they belong to identity columns, or to `migrations`, which only the role that
 * migrates writes to.
 */
const MISSING_RIGHTS = `
  with places as (select oid, nspname from pg_namespace where nspname = any ($1))
  select current_user as role, kind, "right", objects from (
    select 1 as place, 'schema' as kind, 'usage' as "right", array_agg(nspname::text order by nspname) as objects
      from places where not has_schema_privilege(oid, 'usage') having count(*) > 0
    union all
    select 2, 'table', need, array_agg(nspname || '.' || relname order by relname)
      from pg_class c join places p on p.oid = relnamespace,
        unnest(case relkind when 'v' then '{select}' else '{select,insert,update,delete}' end::text[]) need
      where relkind in ('r', 'v') and not (nspname = 'ferry' and relname = 'migrations' and need <> 'select')
        and not has_table_privilege(c.oid, need)
      group by need
    union all
    select 3, 'sequence', 'usage', array_agg(nspname || '.' || relname order by relname)
      from pg_class c join places p on p.oid = relnamespace
      where nspname <> 'ferry' and case relkind when 'S' then not has_sequence_privilege(c.oid, 'usage') end
      having count(*) > 0
    union all
    select 4, 'function', 'execute', array_agg(nspname || '.' || proname order by proname)
      from pg_proc f join places p on p.oid = pronamespace
      where prorettype <> 'trigger'::regtype and not has_function_privilege(f.oid, 'execute')
      having count(*) > 0
    union all
    select 5, 'database', 'temporary', array[current_database()::text]
      where not has_database_privilege(current_database(), 'temporary')
  ) missing order by place, "right"`

const TableSize = z.object({ table: z.string(), bytes: z.number() })

/** Returns the bytes that each table of Ferry takes on the disk, with its indexes. */
export function loadTableSizes(client: Queryable): Promise<z.infer<typeof TableSize>[]> {
  return findAll(
    client,
    TableSize,
    `select c.relname as table, pg_total_relation_size(c.oid)::float8 as bytes from pg_class c
     where c.relnamespace = 'ferry'::regnamespace and c.relkind = 'r' order by c.relname`,
  )
}

/** A session that holds a lock on a table of Ferry. */
const LockHolder = z.object({ pid: z.number(), user: z.string(), program: z.string() })
export type LockHolder = Readonly<z.infer<typeof LockHolder>>

/** Lists who holds locks on Ferry's tables at this moment, five at most. Any role may ask. */
export function listLockHolders(client: Queryable): Promise<LockHolder[]> {
  return findAll(
    client,
    LockHolder,
    `select a.pid, coalesce(a.usename, 'unknown, number ' || a.usesysid) as user, a.application_name as program from pg_stat_activity a
     where a.pid <> pg_backend_pid() and a.usesysid is not null and exists (
       select from pg_locks l join pg_class c on c.oid = l.relation
       where l.pid = a.pid and l.granted and c.relnamespace = to_regnamespace('ferry')
         and l.database = (select oid from pg_database where datname = current_database()))
     order by a.pid limit 5`,
  )
}
