import type { Client } from 'pg'

/** A function, view or trigger of Ferry's schemas by its kind and name, as DROP wants it: `VIEW ferry.alert_rules`. */
export type ObjectName = string

/** What selects all functions, views and triggers of Ferry's schemas, each with its name and its definition. */
const OBJECTS = (function_: string, view: string, trigger: string) => `
  select 'FUNCTION ' || oid::regprocedure as name, ${function_} as definition
  from pg_proc where pronamespace in (${SCHEMAS})
  union all
  select 'VIEW ' || oid::regclass, ${view}
  from pg_class where relnamespace in (${SCHEMAS}) and relkind = 'v'
  union all
  select format('TRIGGER %I ON %s', tgname, tgrelid::regclass), ${trigger}
  from pg_trigger
  where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'ferry'::regnamespace)
  order by 1`

const SCHEMAS = `'ferry'::regnamespace, 'ferry_internal'::regnamespace`

/**
 * Returns the definitions of all functions, views and triggers of Ferry's schemas, with their comments, as this Postgres
 * writes them: equal definitions mean equal objects.
 */
export async function loadObjects(client: Pick<Client, 'query'>): Promise<Map<ObjectName, string>> {
  const { rows } = await client.query<{ name: ObjectName; definition: string }>(
    OBJECTS(
      `concat_ws(E'\\n', pg_get_functiondef(oid), obj_description(oid, 'pg_proc'))`,
      `concat_ws(E'\\n', pg_get_viewdef(oid), reloptions::text, obj_description(oid, 'pg_class'), (
        select string_agg(format('%s %s: %s', attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum)),
          E'\\n' order by attnum)
        from pg_attribute where attrelid = pg_class.oid and attnum > 0))`,
      `concat_ws(E'\\n', pg_get_triggerdef(oid), obj_description(oid, 'pg_trigger'))`,
    ),
  )
  return new Map(rows.map(({ name, definition }) => [name, definition]))
}

/** The names alone, which takes a fraction of the time. */
export async function loadNames(client: Pick<Client, 'query'>): Promise<Set<ObjectName>> {
  const { rows } = await client.query<{ name: ObjectName }>(OBJECTS('null', 'null', 'null'))
  return new Set(rows.map(({ name }) => name))
}

/** The names of objects of `before` that are not in `after`. */
export function missingFrom(after: Map<ObjectName, string>, before: Map<ObjectName, string>): ObjectName[] {
  return [...before.keys()].filter(name => !after.has(name))
}

/** Returns statements that drop the objects, what uses them first; none for no objects. */
export function dropStatements(names: Iterable<ObjectName>, behavior: 'cascade' | 'restrict'): string[] {
  const suffix = behavior === 'cascade' ? ' CASCADE' : ''
  const all = [...names]
  const triggers = all.filter(name => name.startsWith('TRIGGER ')).map(name => `DROP ${name}${suffix};`)
  // In one statement for each kind they may depend on one another.
  const others = ['VIEW', 'FUNCTION'].flatMap(kind => {
    const ofKind = all.filter(name => name.startsWith(`${kind} `)).map(name => name.slice(kind.length + 1))
    return ofKind.length === 0 ? [] : [`DROP ${kind} ${ofKind.join(', ')}${suffix};`]
  })
  return [...triggers, ...others]
}
