import type { Client } from 'pg'

/** A function, view or trigger of schema `ferry` by its kind and name, as DROP wants it: `VIEW ferry.alert_rules`. */
export type ObjectName = string

/**
 * Returns the definitions of all functions, views and triggers of schema `ferry`, with their comments, as this Postgres
 * writes them: equal definitions mean equal objects.
 */
export async function loadObjects(client: Pick<Client, 'query'>): Promise<Map<ObjectName, string>> {
  const { rows } = await client.query<{ name: ObjectName; definition: string }>(`
    select 'FUNCTION ' || oid::regprocedure as name,
      concat_ws(E'\\n', pg_get_functiondef(oid), obj_description(oid, 'pg_proc')) as definition
    from pg_proc where pronamespace = 'ferry'::regnamespace
    union all
    select 'VIEW ' || oid::regclass,
      concat_ws(E'\\n', pg_get_viewdef(oid), reloptions::text, obj_description(oid, 'pg_class'), (
        select string_agg(format('%s %s: %s', attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum)),
          E'\\n' order by attnum)
        from pg_attribute where attrelid = pg_class.oid and attnum > 0))
    from pg_class where relnamespace = 'ferry'::regnamespace and relkind = 'v'
    union all
    select format('TRIGGER %I ON %s', tgname, tgrelid::regclass),
      concat_ws(E'\\n', pg_get_triggerdef(oid), obj_description(oid, 'pg_trigger'))
    from pg_trigger
    where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'ferry'::regnamespace)
    order by 1`)
  return new Map(rows.map(({ name, definition }) => [name, definition]))
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
