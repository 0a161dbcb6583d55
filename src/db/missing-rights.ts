import type { Pool } from 'pg'

/** A right that this role lacks, and the objects it lacks it on. */
export type MissingRight = {
  readonly role: string
  readonly kind: 'schema' | 'table' | 'sequence' | 'function' | 'database'
  /** `usage`, `select`, `insert`, `update`, `delete`, `execute` or `temporary`. */
  readonly right: string
  /** Tables, sequences and functions with their schema. */
  readonly objects: readonly string[]
}

/** Lists what this role lacks to work with the tables, views, sequences and functions of `schemas`, those that exist. */
export async function listMissingRights(
  pool: Pool,
  schemas: readonly string[],
): Promise<readonly MissingRight[]> {
  const { rows } = await pool.query<MissingRight>(MISSING_RIGHTS, [schemas])
  return rows
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
