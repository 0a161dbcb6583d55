import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'
import { REPORTS } from './catalogue.ts'
import { READABLE } from './reader-role.ts'

/*
 * What readers of one account see: a schema with a view for each table and view of schema `ferry`, and a function for each
 * function, under the same names, with the rows of the account alone. They read as their owner. The views are barriers, so that
 * no condition of a reader is asked of a row of another account, but for those that tell nothing of it, such as `=` of texts. How
 * many rows meet those, `explain analyze` says at each step. A report has steps before that of the account: a function hides them.
 */

/** The rows of an account in tables that do not name it. A table that is neither here nor names the account is not shown. */
const ROWS_OF_ACCOUNT: Readonly<Record<string, (account: string) => string>> = {
  import_batches: account => `import_id in (select id from ferry.imports where account = ${account})`,
  import_locales: account => `import_id in (select id from ferry.imports where account = ${account})`,
  quarantined_rows: account => `run_id in (select id from ferry.sync_runs where account = ${account})`,
}

/** Columns that may name another account: keys of limits that accounts share. */
const NAMES_OTHERS: Readonly<Record<string, readonly string[]>> = { imports: ['wants_limit'] }

/** Functions that return no rows of accounts. Such a function that is not here is not shown. */
const ANSWERS: Readonly<Record<string, (account: string) => string>> = {
  history_start: () => 'select ferry.history_start()',
  // Of another account: null, so that a condition with it is not true.
  require_fresh: account =>
    `select ferry.require_fresh($1, $2, ${account}) where coalesce($3, ${account}) = ${account}`,
  settled_at: account => `select least(
    coalesce((select max(applied_at) from ferry.sync_runs where account = ${account}), '-infinity'),
    (select min(started_at) - interval '1 microsecond' from ferry.sync_runs where account = ${account} and finished_at is null))`,
}

const REPORT_NAMES = new Set(REPORTS.map(({ name }) => name))

const Relation = z.object({
  name: z.string(),
  isView: z.boolean(),
  columns: z.array(z.string()),
  types: z.array(z.string()),
  comment: z.string().nullable(),
})
type Relation = Readonly<z.infer<typeof Relation>>

const Routine = z.object({
  name: z.string(),
  parameters: z.string(),
  types: z.string(),
  result: z.string(),
  inputs: z.array(z.string()),
  outputs: z.array(z.string()),
  comment: z.string().nullable(),
})
type Routine = Readonly<z.infer<typeof Routine>>

/** Returns the statements that fill the empty schema, and how many views and functions it then has. */
export async function contentOf(
  client: PoolClient,
  schema: string,
  account: string,
): Promise<{ statements: string[]; objects: number }> {
  const place = escapeIdentifier(schema)
  const literal = escapeLiteral(account)
  const relations = await findAll(client, Relation, RELATIONS)
  const routines = await findAll(client, Routine, ROUTINES)
  const statements = [
    ...relations.flatMap(relation => viewOf(relation, place, literal)),
    ...routines.flatMap(routine => functionOf(routine, place, literal)),
  ]
  return { statements, objects: statements.filter(statement => statement.startsWith('create')).length }
}

function viewOf(
  { name, isView, columns, types, comment }: Relation,
  place: string,
  account: string,
): string[] {
  const hidden = [...((!isView && READABLE[name]) || []), ...(NAMES_OTHERS[name] ?? [])]
  const isReadable = isView || Object.hasOwn(READABLE, name)
  const rows = columns.includes('account') ? `account = ${account}` : ROWS_OF_ACCOUNT[name]?.(account)
  if (!isReadable || rows === undefined) return []
  const shown = columns.flatMap((column, n) =>
    hidden.includes(column) ? [] : [{ column: escapeIdentifier(column), type: types[n] }],
  )
  const [view, source] = [`${place}.${escapeIdentifier(name)}`, `ferry.${escapeIdentifier(name)}`]
  const read = `select ${shown.map(({ column }) => column).join(', ')} from ${source} where ${rows}`
  const about = [
    ...(comment === null ? [] : [`comment on view ${view} is ${escapeLiteral(comment)}`]),
    `select ferry_internal.describe_columns(${escapeLiteral(view)}, ${escapeLiteral(source)})`,
  ]
  const made = `create view ${view} with (security_barrier = true) as`
  if (!isView || !REPORT_NAMES.has(name)) return [`${made} ${read}`, ...about]
  const rowsOf = `${place}.${escapeIdentifier(`rows_of_${name}`)}()`
  const result = shown.map(({ column, type }) => `${column} ${type}`).join(', ')
  return [
    `create function ${rowsOf} returns table (${result}) ${AS_OWNER} as ${escapeLiteral(read)}`,
    `${made} select * from ${rowsOf}`,
    ...about,
  ]
}

const AS_OWNER = 'language sql stable security definer set search_path = pg_catalog, pg_temp'

function functionOf(routine: Routine, place: string, account: string): string[] {
  const { name, parameters, types, result, comment } = routine
  const body = routine.outputs.includes('account') ? askOf(routine, account) : ANSWERS[name]?.(account)
  if (body === undefined) return []
  const made = `${place}.${escapeIdentifier(name)}`
  return [
    `create function ${made}(${parameters}) returns ${result} ${AS_OWNER} as ${escapeLiteral(body)}`,
    ...(comment === null ? [] : [`comment on function ${made}(${types}) is ${escapeLiteral(comment)}`]),
  ]
}

/** The rows of the account. A function that can be asked for one account is asked for this one, and has no rows of another. */
function askOf({ name, types, inputs }: Routine, account: string): string {
  const asked = inputs.indexOf('of_account')
  const typeOf = types.split(', ')
  const values = inputs.map((_, index) =>
    index === asked ? account : inBounds(`$${index + 1}`, typeOf[index] ?? ''),
  )
  const unless = asked < 0 ? '' : ` and coalesce($${asked + 1}, ${account}) = ${account}`
  return `select r.* from ferry.${escapeIdentifier(name)}(${values.join(', ')}) r where r.account = ${account}${unless}`
}

/**
 * A time or a span that no sum with a time of Ferry makes too large: the error would tell, of all accounts, whether there is a time
 * so late.
 */
function inBounds(value: string, type: string): string {
  const [least, most] = BOUNDS[type] ?? []
  return least
    ? `case when ${value} is not null then least(greatest(${value}, ${least}), ${most}) end`
    : value
}

const BOUNDS: Readonly<Record<string, readonly [least: string, most: string]>> = {
  'timestamp with time zone': [`timestamptz '1970-01-01 00:00Z'`, `timestamptz '2970-01-01 00:00Z'`],
  interval: [`interval '0'`, `interval '1000 years'`],
}

const RELATIONS = `
  select c.relname as name, c.relkind = 'v' as is_view, obj_description(c.oid, 'pg_class') as comment,
    array_agg(a.attname::text order by a.attnum) as columns,
    array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) as types
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'ferry'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
  group by c.oid
  order by c.relname`

/** Those that read. Functions of extensions, which somebody may have put into the schema, are not Ferry's. */
const ROUTINES = `
  select p.proname as name, pg_get_function_arguments(p.oid) as parameters, oidvectortypes(p.proargtypes) as types,
    pg_get_function_result(p.oid) as result, coalesce(p.proargnames[:p.pronargs], '{}') as inputs,
    coalesce(p.proargnames[p.pronargs + 1:], '{}') as outputs, obj_description(p.oid, 'pg_proc') as comment
  from pg_proc p
  where p.pronamespace = 'ferry'::regnamespace and p.prokind = 'f' and p.provolatile <> 'v' and not exists (
    select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  order by p.proname, types`
