import type { Pool } from 'pg'

/** Lets so much time pass (an interval of Postgres): all that is remembered happened so much earlier. */
export async function letTimePass(pool: Pool, by: string): Promise<void> {
  const { rows } = await pool.query<{ update: string }>(
    `select format('update ferry.%I set %s', table_name,
       string_agg(format('%1$I = %1$I - $1::interval', column_name), ', ')) as update
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'ferry' and data_type = 'timestamp with time zone' and table_type = 'BASE TABLE'
       and is_generated = 'NEVER'
       -- A row that Ferry did not write itself looks like that of a copied database.
       and table_name <> 'known_database'
     group by table_name`,
  )
  for (const { update } of rows) await pool.query(update, [by])
}
