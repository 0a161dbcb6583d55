import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentsOf, readIntegration } from './files.ts'
import { openFilledDatabase } from './filled-database.ts'

type After = { readonly count: number; readonly period: string }
type Table = {
  readonly name: string
  readonly description: string
  readonly columns?: readonly { readonly name: string }[]
  readonly config?: {
    readonly loaded_at_query: string
    readonly freshness: { readonly warn_after: After; readonly error_after: After }
  }
}

const [{ sources } = { sources: [] }] = documentsOf<{ sources: { schema: string; tables: Table[] }[] }>(
  readIntegration('dbt/sources.yml'),
)
const tables = sources[0]?.tables ?? []
const fresh = tables.filter(table => table.config)

let database: Awaited<ReturnType<typeof openFilledDatabase>>
beforeAll(async () => {
  database = await openFilledDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

test('every source is there for the role that only reads, with the columns that are described', async () => {
  expect(tables.length).toBeGreaterThan(5)
  for (const { name, columns = [] } of tables) {
    const { fields, rows } = await database.reader.query(`select * from "ferry"."${name}"`)
    expect(
      fields.map(field => field.name),
      name,
    ).toEqual(expect.arrayContaining(columns.map(column => column.name)))
    expect(rows.length, name).toBeGreaterThan(0)
  }
})

test('the freshness of a source is that of the account whose data is the oldest', async () => {
  const { reader } = database
  expect(fresh.map(table => table.name)).toEqual(['alert_rules', 'mcp_servers'])
  for (const table of fresh) expect(await ageS(table), table.name).toBeLessThan(60)
  await reader.query('reset role')
  await reader.query(
    `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at, finished_at)
     select 'another', resource, trigger, scope, guard, fingerprint_version, status, started_at - interval '1 day',
       finished_at - interval '1 day'
     from ferry.sync_runs where status = 'succeeded'`,
  )
  for (const table of fresh) expect(await ageS(table), table.name).toBeGreaterThan(86_000)

  /** What dbt asks (dbt-adapters, collect_freshness_custom_sql), in seconds. It reads no row of the table, which may have none. */
  async function ageS({ config }: Table): Promise<number> {
    const { rows } = await reader.query<{ max_loaded_at: Date; snapshotted_at: Date }>(
      `with source_query as (${config?.loaded_at_query})
       select (select * from source_query) as max_loaded_at, now() as snapshotted_at`,
    )
    const [{ max_loaded_at, snapshotted_at } = expect.fail()] = rows
    return (snapshotted_at.getTime() - max_loaded_at.getTime()) / 1000
  }
})

test('a source is called stale after its inventory is late, and before it is called an error', () => {
  const seconds = ({ count, period }: After) => count * ({ minute: 60, hour: 3600 }[period] ?? Number.NaN)
  for (const { config, name } of fresh) {
    const { warn_after, error_after } = config!.freshness
    expect(seconds(warn_after), name).toBeGreaterThanOrEqual(180)
    expect(seconds(error_after), name).toBeGreaterThan(seconds(warn_after))
  }
})
