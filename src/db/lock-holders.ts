import type { ClientBase } from 'pg'

/** A session that holds a lock on a table of Ferry. */
export type LockHolder = { readonly pid: number; readonly user: string; readonly program: string }

/** Lists who holds locks on Ferry's tables at this moment, five at most. Any role may ask. */
export async function listLockHolders(client: ClientBase): Promise<LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `select a.pid, a.usename as user, a.application_name as program from pg_stat_activity a
     where a.pid <> pg_backend_pid() and a.usesysid is not null and exists (
       select from pg_locks l join pg_class c on c.oid = l.relation
       where l.pid = a.pid and l.granted and c.relnamespace = to_regnamespace('ferry')
         and l.database = (select oid from pg_database where datname = current_database()))
     order by a.pid limit 5`,
  )
  return rows
}
