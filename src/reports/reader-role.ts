import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { z } from 'zod'
import { inTransaction } from '#src/db/pool.ts'
import { findAll, findColumn, findMaybe } from '#src/db/rows.ts'
import { MIGRATION_LOCK } from '#src/db/run-migrations.ts'

/** The role that reads views and reports, and calls no function that writes. It has no login: programs get a role of their own that is a member of it. */
export const READER = 'ferry_reader'

/**
 * The tables that the role may read beside all views, each with the columns that it may not: rows as the platform sent
 * them, its words about recipients, hashes of keys and of data, and the tokens of leases. What is not here, it may not read at all: people, the
 * results of their rows (`import_recipients`, `import_rejects`, `import_left_out`), and the salt of their hashes
 * (`installation`). Reports about these are views, which read as their owner.
 */
export const READABLE: Readonly<Record<string, readonly string[]>> = {
  alert_rule_firings: [],
  alert_rule_versions: [],
  audit: [],
  backfills: [],
  contract_drift: [],
  database_changes: ['known', 'found'],
  deliveries: [],
  events: [],
  history: [],
  import_batches: ['claim', 'message', 'reasons'],
  import_locales: [],
  imports: [],
  freshness_targets: [],
  leases: ['token'],
  mcp_server_versions: [],
  migrations: [],
  platform_accounts: [],
  platform_calls: ['limit_key'],
  platform_limits: ['limit_key'],
  quarantined_rows: ['raw'],
  receivers: [],
  removal_holds: [],
  schedule_pauses: [],
  schedule_slots: [],
  seen_values: [],
  snapshots: [],
  sync_runs: ['scope', 'data_hashes', 'lease_token'],
  workers: [],
}

/** Whether the role has its rights; `refused`: this user may not grant them, and `statements` would. */
export type ReaderState =
  | { readonly status: 'ready' }
  | { readonly status: 'refused'; readonly statements: readonly string[] }

/**
 * Creates the role unless the server has it, and gives it exactly its rights in this database. Any number of processes
 * and databases of one server may do so at once. Writes nothing, and takes no lock, if all is as it should be.
 */
export async function prepareReader(pool: Pool): Promise<ReaderState> {
  return await inTransaction(pool, async client => {
    const found = await loadState(client)
    if (found.isRight) return { status: 'ready' }
    await client.query('savepoint reader')
    try {
      // `GRANT` fails if another session changes the rights of the same table.
      await client.query(MIGRATION_LOCK)
      const { exists, statements } = await loadState(client)
      await client.query('savepoint locked')
      if (!exists) await client.query(CREATE).catch(unlessThere(client))
      for (const statement of statements) await client.query(statement)
      // Postgres only warns a user who is not the owner.
      if ((await loadState(client)).isRight) return { status: 'ready' }
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== INSUFFICIENT_PRIVILEGE) throw error
    }
    await client.query('rollback to savepoint reader')
    return { status: 'refused', statements: statementsOf(found) }
  })
}

/** All statements that give the role its rights, in the state that was found. */
function statementsOf({ exists, statements }: Awaited<ReturnType<typeof loadState>>): string[] {
  return [...(exists ? [] : [CREATE]), ...statements]
}

/** What `prepareReader` would find: whether the role exists, has exactly its rights, and what gives it these. Changes nothing. */
export async function loadReaderState(pool: Pool): Promise<{
  readonly exists: boolean
  readonly isRight: boolean
  readonly statements: readonly string[]
}> {
  return await inTransaction(pool, async client => {
    const state = await loadState(client)
    return { ...state, statements: statementsOf(state) }
  })
}

const CREATE = `create role ${READER} nologin`

const INSUFFICIENT_PRIVILEGE = '42501'
const ALREADY_EXISTS = ['42710', '23505']

/** Another database of the server may have created the role at the same moment. */
function unlessThere(client: PoolClient): (error: unknown) => Promise<void> {
  return async error => {
    if (!(error instanceof DatabaseError) || !ALREADY_EXISTS.includes(error.code ?? '')) throw error
    await client.query('rollback to savepoint locked')
  }
}

/** The reports call functions and views that are for Ferry alone, with the rights of who asks. */
const SCHEMAS = 'ferry, ferry_internal'
const SCHEMA_OIDS = "('ferry'::regnamespace, 'ferry_internal'::regnamespace)"

const Column = z.object({
  schema: z.string(),
  relation: z.string(),
  column: z.string(),
  isView: z.boolean(),
  isRead: z.boolean(),
  isWritten: z.boolean(),
})
type Column = Readonly<z.infer<typeof Column>>

const RoleFacts = z.object({ exists: z.boolean(), isUser: z.boolean() })
const WritingFunction = z.object({ name: z.string(), mayCall: z.boolean() })

/** Which rights the role has, and the statements that give it the right ones. */
async function loadState(client: PoolClient) {
  const columns = await findAll(client, Column, COLUMNS, [READER])
  const facts = await findMaybe(client, RoleFacts, FACTS, [READER])
  const functions = await findAll(client, WritingFunction, WRITING_FUNCTIONS, [READER])
  const { exists = false, isUser = false } = facts ?? {}
  const isRight =
    isUser &&
    columns.every(column => column.isRead === isReadable(column) && !column.isWritten) &&
    functions.every(({ mayCall }) => !mayCall)
  const names = functions.map(({ name }) => name).join(', ')
  // What everybody may do, no single role can be kept from.
  const revoke = `revoke execute on function ${names} from public, ${READER}`
  return { exists, isRight, statements: [...statementsFor(columns), revoke] }
}

function isReadable({ relation, column, isView }: Column): boolean {
  const hidden = Object.hasOwn(READABLE, relation) ? READABLE[relation] : undefined
  return isView || (hidden !== undefined && !hidden.includes(column))
}

function statementsFor(columns: readonly Column[]): string[] {
  const views = new Set(columns.filter(({ isView }) => isView).map(nameOf))
  const tables = Map.groupBy(
    columns.filter(column => !column.isView && isReadable(column)),
    nameOf,
  )
  const whole = [...tables.keys()].filter(table => READABLE[table.replace('ferry.', '')]?.length === 0)
  const inPart = [...tables].filter(([table]) => !whole.includes(table))
  return [
    `grant usage on schema ${SCHEMAS} to ${READER}`,
    `revoke all on all tables in schema ${SCHEMAS} from ${READER}`,
    `alter default privileges in schema ${SCHEMAS} revoke all on tables from ${READER}`,
    `grant select on ${[...views, ...whole].join(', ')} to ${READER}`,
    ...inPart.map(
      ([table, of]) =>
        `grant select (${of.map(({ column }) => `"${column}"`).join(', ')}) on ${table} to ${READER}`,
    ),
  ]
}

function nameOf({ schema, relation }: Column): string {
  return `${schema}.${relation}`
}

const COLUMNS = `
  select c.relnamespace::regnamespace::text as schema, c.relname as relation, a.attname as "column", c.relkind = 'v' as is_view,
    coalesce(has_column_privilege(r.oid, c.oid, a.attnum, 'select'), false) as is_read,
    coalesce(has_column_privilege(r.oid, c.oid, a.attnum, 'insert, update')
      or has_table_privilege(r.oid, c.oid, 'delete, truncate'), false) as is_written
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_roles r on r.rolname = $1
  where c.relnamespace in ${SCHEMA_OIDS} and c.relkind in ('r', 'p', 'v', 'm')
  order by schema, c.relname, a.attnum`

/** A function that writes is volatile. Those of extensions, which somebody may have put into the schema, are not Ferry's. */
const WRITING_FUNCTIONS = `
  select format('%s.%I(%s)', p.pronamespace::regnamespace, p.proname, pg_get_function_identity_arguments(p.oid)) as name,
    coalesce(has_function_privilege(r.oid, p.oid, 'execute'), true) as may_call
  from pg_proc p left join pg_roles r on r.rolname = $1
  where p.pronamespace in ${SCHEMA_OIDS} and p.provolatile = 'v' and not exists (
    select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  order by 1`

const FACTS = `
  select true as exists, has_schema_privilege(oid, 'ferry', 'usage') and has_schema_privilege(oid, 'ferry_internal', 'usage') as is_user from pg_roles where rolname = $1`

/**
 * Returns whether the connected user may take on the role, as the console does to read. If it may not, but may grant the
 * role, it becomes a member.
 */
export async function joinReader(pool: Pool): Promise<boolean> {
  if (await mayBeReader(pool)) return true
  try {
    await pool.query(`grant ${READER} to current_user`)
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== INSUFFICIENT_PRIVILEGE) throw error
  }
  return mayBeReader(pool)
}

/** From Postgres 16 on, a member may be barred from taking on the role. */
async function mayBeReader(pool: Pool): Promise<boolean> {
  const [may = false] = await findColumn(
    pool,
    z.boolean(),
    `select pg_has_role(oid, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end) as may
     from pg_roles where rolname = $1`,
    [READER],
  )
  return may
}
