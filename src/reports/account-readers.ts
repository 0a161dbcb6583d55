import { createHash } from 'node:crypto'
import { escapeIdentifier, escapeLiteral, type Pool, type PoolClient } from 'pg'
import { z } from 'zod'
import { inTransaction } from '#src/db/pool.ts'
import { findColumn, findOne } from '#src/db/rows.ts'
import { ACCOUNT_SCHEMA_MARK, isCode, MIGRATION_LOCK } from '#src/db/run-migrations.ts'
import { reasonOf } from '#src/model/reason.ts'
import { contentOf } from './account-schema.ts'
import { READER } from './reader-role.ts'

/*
 * Roles that see one account. Each has a schema of its own, with the name of the role; `account-schema.ts` says what is in it.
 * Of the schemas of Ferry they may read one table, which says where the history starts.
 */

/** How long it waits for readers who are using what it makes anew. */
const WAIT_MS = 5_000

const MAX_NAME_BYTES = 63

/** The role has its schema and its rights; or this user may not give them, or others use the schema, and `statements` would. */
export type AccountReader = {
  readonly account: string
  readonly role: string
  readonly status: 'ready' | 'refused' | 'in use'
  readonly statements: readonly string[]
  /** What Postgres said when it refused. */
  readonly why?: string
}

/** There is a schema of this name that Ferry has not made. */
export class AccountSchemaTaken extends Error {
  override readonly name = 'AccountSchemaTaken'
  readonly whatToDo = 'Give that schema another name, and run `ferry migrate` again.'
  constructor(schema: string) {
    super(`The schema ${schema} exists, and Ferry has not made it.`)
  }
}

/** The role of the readers of an account; null if Postgres has no room for the name. Its schema has the same name. */
export function accountRole(account: string): string | null {
  const role = `${READER}_${account}`
  return Buffer.byteLength(role) > MAX_NAME_BYTES ? null : role
}

/** The other way round. */
function accountOf(role: string): string {
  return role.slice(READER.length + 1)
}

/**
 * Makes the role of the readers of an account and its schema, and gives it exactly its rights. Makes the schema anew if it is not
 * as this version makes it. Writes nothing, and takes no lock, if all is as it should be.
 */
export async function prepareAccountReader(pool: Pool, account: string): Promise<AccountReader> {
  const role = accountRole(account)
  if (role === null) throw new Error(`no role can have the name of the account ${account}`)
  return await inTransaction(pool, async client => {
    const found = await loadState(client, role, account)
    if (found.isRight) return { account, role, status: 'ready', statements: [] }
    await client.query('savepoint reader')
    const made = await makeSchema(client, role, account).then(
      status => ({ status }),
      (error: unknown) => {
        const why = reasonOf(error)
        if (isCode(error, INSUFFICIENT_PRIVILEGE)) return { status: 'refused', why } as const
        if (isCode(error, LOCK_NOT_AVAILABLE)) return { status: 'in use' } as const
        throw error
      },
    )
    if (made.status === 'ready') return { account, role, ...made, statements: [] }
    await client.query('rollback to savepoint reader')
    return { account, role, ...made, statements: found.statements }
  })
}

async function makeSchema(client: PoolClient, role: string, account: string): Promise<'ready' | 'refused'> {
  await client.query(`set local lock_timeout = ${WAIT_MS}`)
  await client.query(MIGRATION_LOCK)
  for (const statement of (await loadState(client, role, account)).statements) await client.query(statement)
  // Postgres only warns a user who is not the owner.
  return (await loadState(client, role, account)).isRight ? 'ready' : 'refused'
}

/**
 * Does the same for all accounts that have a schema for their readers, as after a migration. Drops the schema of a role that is
 * gone, if this user may.
 */
export async function refreshAccountReaders(pool: Pool): Promise<AccountReader[]> {
  const readers: AccountReader[] = []
  for (const role of await findColumn(pool, z.string(), SCHEMAS)) {
    const account = accountOf(role)
    const [exists] = await findColumn(pool, z.boolean(), HAS_ROLE, [role])
    if (exists) readers.push(await prepareAccountReader(pool, account))
    else await pool.query(`drop schema ${escapeIdentifier(role)} cascade`).catch(unlessRefused)
  }
  return readers
}

/** The names of the accounts that have a schema for their readers. */
export async function listAccountReaders(pool: Pool): Promise<string[]> {
  return (await findColumn(pool, z.string(), SCHEMAS)).map(accountOf)
}

/** The names of the accounts whose readers' schema is not as this version makes it. Changes nothing. */
export async function listStaleAccountReaders(pool: Pool): Promise<string[]> {
  const roles = await findColumn(pool, z.string(), SCHEMAS)
  return await inTransaction(pool, async client => {
    const stale: string[] = []
    for (const role of roles) {
      const account = accountOf(role)
      if (!(await loadState(client, role, account)).isRight) stale.push(account)
    }
    return stale
  })
}

const INSUFFICIENT_PRIVILEGE = '42501'
const LOCK_NOT_AVAILABLE = '55P03'

function unlessRefused(error: unknown): void {
  if (!isCode(error, INSUFFICIENT_PRIVILEGE)) throw error
}

const Facts = z.object({
  hasRole: z.boolean(),
  hasSchema: z.boolean(),
  comment: z.string().nullable(),
  owner: z.string(),
  shown: z.number(),
  hasMore: z.boolean(),
})

/** Whether the role has its schema and exactly its rights, and all statements that make them. */
async function loadState(client: PoolClient, role: string, account: string) {
  const facts = await findOne(client, Facts, FACTS, [role])
  if (facts.hasSchema && !facts.comment?.startsWith(ACCOUNT_SCHEMA_MARK)) throw new AccountSchemaTaken(role)
  const content = await contentOf(client, role, account)
  const [reader, owner] = [escapeIdentifier(role), escapeIdentifier(facts.owner)]
  const statements = [
    `set role ${owner}`,
    `drop schema if exists ${reader} cascade`,
    'reset role',
    `create schema ${reader} authorization ${owner}`,
    `set role ${owner}`,
    ...content.statements,
    `grant usage on schema ${reader} to ${reader}`,
    `grant select on all tables in schema ${reader} to ${reader}`,
    `revoke all on all functions in schema ${reader} from public`,
    `grant execute on all functions in schema ${reader} to ${reader}`,
    // Some views call functions of Ferry, as the reader.
    `revoke all on all tables in schema ferry, ferry_internal from ${reader}`,
    `grant usage on schema ferry, ferry_internal to ${reader}`,
    `grant select on ferry.history to ${reader}`,
  ]
  const hash = createHash('sha256').update(statements.join()).digest('hex').slice(0, 16)
  const comment = `${ACCOUNT_SCHEMA_MARK} of the account ${account} see. Made by \`ferry migrate\`. ${hash}`
  return {
    isRight:
      facts.hasRole &&
      facts.comment === comment &&
      facts.shown === content.objects + GRANTS &&
      !facts.hasMore,
    statements: [
      // Another database of the server may create it at the same moment.
      ...(facts.hasRole
        ? []
        : [`do ${escapeLiteral(`begin create role ${reader} nologin; ${UNLESS_THERE} end`)}`]),
      ...statements,
      `comment on schema ${reader} is ${escapeLiteral(comment)}`,
      'reset role',
    ],
  }
}

/** Of its own schema and of the two of Ferry, and of one table. */
const GRANTS = 4

const SCHEMAS = `
  select nspname as name from pg_namespace
  where nspname like '${READER.replaceAll('_', '\\_')}\\_%' and obj_description(oid, 'pg_namespace') like '${ACCOUNT_SCHEMA_MARK}%'
  order by nspname`

const UNLESS_THERE = 'exception when duplicate_object or unique_violation then null;'

const HAS_ROLE = 'select exists (select from pg_roles where rolname = $1) as has_role'

/** \`shown\` counts what the role may use of what it should. */
const FACTS = `
  select r.oid is not null as has_role, n.oid is not null as has_schema, obj_description(n.oid, 'pg_namespace') as comment,
    pg_get_userbyid(i.relowner) as owner,
    (select count(*) from pg_class c where c.relnamespace = n.oid and c.relkind = 'v' and has_table_privilege(r.oid, c.oid, 'select'))::int
      + (select count(*) from pg_proc p where p.pronamespace = n.oid and has_function_privilege(r.oid, p.oid, 'execute'))::int
      + (select count(*) from pg_namespace s
         where s.nspname in ($1, 'ferry', 'ferry_internal') and has_schema_privilege(r.oid, s.oid, 'usage'))::int
      + coalesce(has_table_privilege(r.oid, 'ferry.history', 'select'), false)::int as shown,
    exists (
      select from pg_class c
      where c.relnamespace in ('ferry'::regnamespace, 'ferry_internal'::regnamespace) and c.relkind in ('r', 'p', 'v', 'm')
        and (has_any_column_privilege(r.oid, c.oid, 'insert, update, references')
          or c.oid <> 'ferry.history'::regclass and has_any_column_privilege(r.oid, c.oid, 'select'))
    ) as has_more
  from pg_class i
  left join pg_namespace n on n.nspname = $1
  left join pg_roles r on r.rolname = $1
  where i.oid = 'ferry.installation'::regclass`
