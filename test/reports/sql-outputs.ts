import type { PoolClient } from 'pg'
import { REPORTS } from '#src/reports/catalogue.ts'

/*
 * All that SQL says of the account `default`: the views and functions of Ferry's schemas, as the catalogues of Postgres list them, so
 * that none is forgotten, and the reports.
 */

export type Output = { readonly name: string; readonly query: string }

/** Functions that say nothing of the rows of an account, by what they are. */
export const NOT_OF_AN_ACCOUNT: Readonly<Record<string, readonly string[]>> = {
  'works on its arguments alone': [
    ...['cron_field', 'cron_unread', 'is_expired_claim', 'is_open_batch', 'is_uncertain_batch', 'zone_of'],
    ...['alert_rule_differences', 'mcp_server_differences'],
  ],
  'is about the whole database': ['history_start', 'expect_history', 'settled_at'],
  'is about a time on the clock, not about a row': ['limit_state', 'counted_elsewhere'],
}

const runs = (condition: string) =>
  `(select array_agg(id order by id) from ferry.sync_runs where account = 'default' and applied_at is not null and ${condition})`
const MOMENTS = ['now()', `now() - interval '3 hours'`, `now() - interval '29 hours'`]

const NIGHTS = [0, 1, 2].map(
  n =>
    `(select night from ferry.nights() where account = 'default' and snapshot is not null order by night desc offset ${n} limit 1)`,
)

/** What arguments are, by their names, one after the other; others are left out. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  since: ['null', `now() - interval '20 hours'`, `now() - interval '10 days'`],
  until: ['null', 'null', `now() - interval '5 hours'`],
  at: MOMENTS,
  span: [`interval '7 days'`, `interval '1 hour'`],
  a: [`now() - interval '10 days'`, `now() - interval '29 hours'`],
  b: ['now()', `now() - interval '3 hours'`],
  week: ['null', `now() - interval '7 days'`],
  night: NIGHTS,
  at_least: ['1', '2'],
  at_most: ['null::integer', '3'],
  worst: ['3'],
  of_account: [`'default'`],
  of_folder: ['null', `(select min(folder_id) from ferry.alert_rules where account = 'default')`],
  account: [`'default'`],
  after_account: ['null', `'default'`],
  after_id: ['null', `(select percentile_disc(0.4) within group (order by id) from ferry.alert_rules)`],
  id: [`(select min(id) from ferry.alert_rules where account = 'default')`],
  server_id: [`(select min(server_id) from ferry.mcp_servers where account = 'default')`],
  inventory: [`'alert-rules'`, `'mcp-servers'`],
  max_age: [`interval '1 year'`],
  runs: [runs('true'), runs('id between 30 and 90')],
  p_limit_key: [`'account:default'`, `'key:default'`],
  p_operation: [`'list-alert-rules'`, `'list-mcp-servers'`],
  p_since: [`now() - interval '1 year'`],
  p_max_calls: [`'{3}'`],
  p_window_ms: [`'{2000000000}'`],
  p_at: ['now()'],
}

/** The rows of the account, of views that do not name it. */
const ROWS: Readonly<Record<string, string>> = {
  import_reasons: `import in (select id from ferry.imports where account = 'default')`,
  run_folders: `id in (select id from ferry.sync_runs where account = 'default')`,
  run_quarantine: `run_id in (select id from ferry.sync_runs where account = 'default')`,
}

export async function listSqlOutputs(client: PoolClient): Promise<Output[]> {
  const { rows: views } = await client.query<{ name: string; schema: string; isOfAccount: boolean }>(VIEWS)
  const { rows: functions } = await client.query<Routine>(FUNCTIONS)
  const left = new Set(Object.values(NOT_OF_AN_ACCOUNT).flat())
  return [
    ...views.map(({ name, schema, isOfAccount }) => ({
      name,
      query: `select * from ${schema}.${name} where ${isOfAccount ? `account = 'default'` : ROWS[name]}`,
    })),
    ...functions.filter(({ name }) => !left.has(name)).flatMap(callsOf),
    ...REPORTS.flatMap(reportsOf),
  ]
}

type Routine = {
  readonly name: string
  readonly schema: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
}

/** A function that is asked for one account says nothing of another; of the others, the rows of the account are taken. */
function callsOf({ name, schema, inputs, outputs }: Routine): Output[] {
  const asked = inputs.flatMap(input => (VALUES[input] ? [{ input, values: VALUES[input] }] : []))
  const where =
    outputs.includes('account') && !inputs.includes('of_account') ? ` where f.account = 'default'` : ''
  const count = Math.max(1, ...asked.map(({ values }) => values.length))
  return Array.from({ length: count }, (_, n) => {
    const values = asked.map(({ input, values }) => `${input} => ${values[n % values.length]}`)
    return {
      name: `${name}(${values.join(', ')})`,
      query: `select f.* from ${schema}.${name}(${values.join(', ')}) f${where}`,
    }
  })
}

function reportsOf({ name, query, takes, ofNight }: (typeof REPORTS)[number]): Output[] {
  const fill = (text: string, values: readonly string[]) =>
    text.replaceAll(/\$(\d)/g, (_, at) => `(${values[Number(at) - 1]})`)
  const since = ['null::timestamptz', `now() - interval '20 hours'`].map(since => {
    const given = { since, account: `'default'::text`, night: NIGHTS[0] ?? '' }
    return {
      name: `report ${name} since ${since}`,
      query: fill(
        query,
        takes.map(option => given[option]),
      ),
    }
  })
  const nights = NIGHTS.map((night, n) => ({
    name: `report ${name} of ${n} nights ago`,
    query: fill(ofNight ?? '', [`'default'::text`, night]),
  }))
  return [...(takes.includes('since') ? since : since.slice(0, 1)), ...(ofNight ? nights : [])]
}

const VIEWS = `
  select c.relname as name, c.relnamespace::regnamespace::text as schema, exists (
    select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account') as "isOfAccount"
  from pg_class c where c.relkind = 'v' and c.relnamespace in ('ferry'::regnamespace, 'ferry_internal'::regnamespace) order by 1`

const FUNCTIONS = `
  select proname as name, pronamespace::regnamespace::text as schema, coalesce(proargnames[:pronargs], '{}') as inputs,
    coalesce(proargnames[pronargs + 1:], '{}') as outputs
  from pg_proc where pronamespace in ('ferry'::regnamespace, 'ferry_internal'::regnamespace) and provolatile <> 'v' order by 1`
