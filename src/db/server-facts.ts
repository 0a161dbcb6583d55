import type { Pool } from 'pg'
import { onlyRow } from './rows.ts'

/** What the server and the database say about themselves. */
export type ServerFacts = {
  readonly version: string
  /** It is a standby, or transactions are read-only by default. */
  readonly isReadOnly: boolean
  /** The database's default isolation level, such as `read committed`. */
  readonly isolation: string
  /** The role as which Ferry works here. */
  readonly role: string
  readonly isSuperuser: boolean
  /** Every role may create objects in the schema `public`, where Postgres looks names up for this role. */
  readonly isPublicOpen: boolean
}

export async function loadServerFacts(pool: Pool): Promise<ServerFacts> {
  const { rows } = await pool.query<ServerFacts>(
    `select current_setting('server_version') as version,
       pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
       current_setting('default_transaction_isolation') as isolation,
       current_user as role, current_setting('is_superuser') = 'on' as "isSuperuser",
       exists (select from pg_namespace where nspname = 'public' and has_schema_privilege('public', oid, 'create'))
         as "isPublicOpen"`,
  )
  return onlyRow(rows, 'the server facts')
}

/**
 * How many connections this role may open here, and how many of them programs other than Ferry use. The first is the
 * least of what the server, the database and the role allow.
 */
export type ConnectionFacts = { readonly allowed: number; readonly usedByOthers: number }

export async function loadConnectionFacts(pool: Pool): Promise<ConnectionFacts> {
  const { rows } = await pool.query<ConnectionFacts>(
    `select least(
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
       (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as allowed,
     -- Of other users' sessions only few columns are shown, and what kind of session it is is not among them.
     (select count(*)::int from pg_stat_activity
      where datid is not null and usesysid is not null and coalesce(backend_type, 'client backend') = 'client backend'
        and application_name not like 'ferry%') as "usedByOthers"`,
  )
  return onlyRow(rows, 'the connection facts')
}
