import { randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { prepareAccountReader } from '#src/reports/account-readers.ts'
import { openTwoAccounts } from './two-accounts.ts'

/** The role of the readers of the account `default`, and its schema. */
export const ROLE = 'ferry_reader_default'

export type View = { readonly name: string; readonly columns: readonly string[] }
export type Routine = { readonly name: string; readonly inputs: readonly string[]; readonly isSet: boolean }

/** A database of two accounts, each with readers. */
export type TwoReaders = AsyncDisposable & {
  readonly pool: Pool
  /** Everything that is in the schema, by the catalogues, so that what is new is looked at too. */
  readonly views: readonly View[]
  readonly functions: readonly Routine[]
  /** A connection as a login that is a member of the role. In the schema `evil` he may do as he likes. */
  connect(opened: AsyncDisposableStack): Promise<Client>
}

export async function openTwoReaders(): Promise<TwoReaders> {
  await using opened = new AsyncDisposableStack()
  const { pool, databaseUrl } = opened.use(await openTwoAccounts())
  for (const account of ['default', 'umbrella']) {
    const { status } = await prepareAccountReader(pool, account)
    if (status !== 'ready') throw new Error(`the readers of ${account}: ${status}`)
  }
  const login = `account_${randomBytes(4).toString('hex')}`
  await pool.query(`grant ${ROLE} to current_user;
    create role ${login} login password 'x' in role ${ROLE}; create schema evil; grant all on schema evil to ${login}`)
  opened.defer(async () => {
    await pool.query(`drop schema evil cascade; drop role ${login}`)
  })
  const url = Object.assign(new URL(databaseUrl), { username: login, password: 'x' }).href
  const views = (await pool.query<View>(VIEWS, [ROLE])).rows
  const functions = await functionsIn(pool, ROLE)
  const kept = opened.move()
  return {
    pool,
    views,
    functions,
    async connect(closing) {
      const client = new Client({ connectionString: url })
      await client.connect()
      closing.defer(() => client.end())
      return client
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const VIEWS = `
  select relname as name, array_agg(format('%I', attname) order by attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and attnum > 0 and not attisdropped
  where relnamespace = $1::regnamespace and relkind in ('r', 'v', 'm', 'p', 'f') group by 1 order by 1`

/** The functions of a schema that read. */
export async function functionsIn(pool: Pool, schema: string): Promise<Routine[]> {
  const { rows } = await pool.query<Routine>(
    `select proname as name, coalesce(proargnames[:pronargs], '{}') as inputs, proretset as "isSet"
     from pg_proc where pronamespace = $1::regnamespace and provolatile <> 'v' order by 1`,
    [schema],
  )
  return rows
}

/** What the arguments of functions are, by their names; others are left out. */
const VALUES: Readonly<Record<string, string>> = {
  since: `'2020-01-01Z'::timestamptz`,
  at: `now()`,
  span: `interval '7 days'`,
  a: `'2020-01-01Z'::timestamptz`,
  b: 'now()',
  night: 'current_date',
  at_least: '1',
  at_most: 'null::integer',
  worst: '3',
}

/** A call with these arguments; `account` is asked for where an account can be. */
export function callOf({ name, inputs }: Pick<Routine, 'name' | 'inputs'>, account?: string): string {
  const values = account ? { ...VALUES, of_account: `'${account}'` } : VALUES
  return `${name}(${inputs.flatMap(input => (values[input] ? [`${input} => ${values[input]}`] : [])).join(', ')})`
}
