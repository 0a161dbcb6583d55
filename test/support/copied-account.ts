import type { Pool, PoolClient } from 'pg'

export type Copy = {
  readonly account: string
  /** Goes into each text of it, and into the rest where that can be. */
  readonly word: string
  readonly number: string
  /** Ferry's ids of it are larger by so much; those that the platform gives are the same. */
  readonly idsLater: number
  /** How much later all of it happened (an interval of Postgres). */
  readonly later: string
  /** Columns that are the same in the copy, besides those that must be. */
  readonly kept?: readonly string[]
  /** What is in columns of tables instead, such as `sync_runs.status`: expressions over the row that is copied. */
  readonly instead?: Readonly<Record<string, string>>
}

/**
 * Copies all rows of accounts to each of these accounts: with the same ids of rules and servers, and another word and number wherever a
 * text or an id of something else is.
 */
export async function copyToAccounts(pool: Pool | PoolClient, copies: readonly Copy[]): Promise<void> {
  const { rows } = await pool.query<Column>(COLUMNS)
  const statements = [...Map.groupBy(rows, row => row.table)].map(([table, columns]) => {
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    const copied = copies.map(
      copy => `select ${columns.map(column => copyOf(column, copy)).join(', ')} from ferry.${table} t`,
    )
    return `insert into ferry.${table} (${names}) overriding system value ${copied.join(' union all ')}`
  })
  await pool.query(statements.join(';\n'))
  await pool.query(
    'insert into ferry.platform_limits (limit_key, operation) select distinct limit_key, operation from ferry.platform_calls on conflict do nothing',
  )
}

/** From now on there is room between two of Ferry's ids, for those of copies. */
export async function leaveRoom(pool: Pool): Promise<void> {
  await pool.query(LEAVE_ROOM)
}

const LEAVE_ROOM = `
  do $$
  declare statement text;
  begin
    for statement in
      select format('alter table %s alter column %I set increment by 10 restart with 10', attrelid::regclass, attname)
      from pg_attribute where attidentity <> '' and attrelid in (select oid from pg_class where relnamespace = 'ferry'::regnamespace)
    loop execute statement; end loop;
  end $$`

type Column = { table: string; name: string; type: string; isChecked: boolean; isKey: boolean }

/** The columns of the tables of accounts, with what a copy needs: whether only some texts may be in it. */
const COLUMNS = `
  select c.relname as "table", a.attname as name, format_type(a.atttypid, null) as type, exists (
      select from pg_constraint k where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
        and pg_get_constraintdef(k.oid) like '%ANY%') as "isChecked",
    a.attidentity <> '' as "isKey"
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relnamespace = 'ferry'::regnamespace and c.relkind = 'r' and c.relname not in (
    'migrations', 'backfills', 'database_changes', 'history', 'installation', 'known_database', 'platform_limits', 'receivers', 'workers')
  order by c.relname = 'deliveries', c.relname, a.attnum`

/** What these texts say is looked at; `server_id` is shared, as the ids of rules are. */
const KEPT = ['server_id', 'method', 'operation', 'schedule', 'timezone', 'guard', 'id']
const NUMBERS = /^(id|event|batch_id|call_id|parent_id|import_id|run_id|earlier_import|.*_run)$/

function copyOf({ table, name, type, isChecked, isKey }: Column, copy: Copy): string {
  const { account, word, number, idsLater, later, kept = [], instead = {} } = copy
  const column = `"${name}"`
  const other = instead[`${table}.${name}`]
  if (other !== undefined) return other
  if (name === 'account') return `'${account}'`
  if (table === 'leases' && name === 'name') return `replace(name, 'default', '${account}')`
  if (isKey || (type === 'bigint' && NUMBERS.test(name))) return `${column} + (${idsLater})`
  if (name === 'since_runs')
    return `array(select n + (${idsLater}) from unnest(${column}) with ordinality o (n, at) order by at)`
  if (type === 'timestamp with time zone') return `${column} + interval '${later}'`
  if (type === 'uuid' && ['claim', 'token'].includes(name))
    return `case when ${column} is not null then gen_random_uuid() end`
  if ([...KEPT, ...kept].includes(name)) return column
  if (['limit_key', 'wants_limit'].includes(name)) return `regexp_replace(${column}, ':.*', ':${account}')`
  if (type === 'numeric') return `case when ${column} is not null then ${number} end`
  if (type === 'jsonb' && name !== 'scope' && name !== 'folders')
    return `replace(replace(${column}::text, '": "', '": "${word} '), '{}', '{"${word}": "${word}"}')::jsonb`
  if (name === 'cron_pattern') return `'${word} ' || ${column}`
  if (type === 'text' && !isChecked) return `${column} || ' ${word}'`
  return column
}
