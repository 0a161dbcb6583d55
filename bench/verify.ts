import type { Client } from 'pg'
import { pino } from 'pino'
import { allChecks } from '#src/cli/verify/checks.ts'
import { openDatabase } from '#src/db/pool.ts'
import { verify as verifyOne } from '#src/db/verify.ts'
import { atMost, type Figure } from './support/figures.ts'
import type { Bench, Lab } from './support/lab.ts'
import { putLargeImport } from './support/large-import.ts'

/** How long `ferry verify` takes for five million rows: three of versions, one of recipients, one of calls. */
export const verify: Bench = async lab => {
  const databaseUrl = await lab.openDatabase()
  const client = await lab.connect(databaseUrl)
  await fill(client, databaseUrl, lab)
  const { pool } = openOn(databaseUrl, lab)
  const figures: Figure[] = []
  let found = 0
  let sumMs = 0
  for (const check of allChecks(LIMITS)) {
    const startedAtMs = performance.now()
    found += await verifyOne(pool, check, () => {})
    const tookMs = performance.now() - startedAtMs
    sumMs += tookMs
    if (tookMs > 1_000) figures.push({ measure: `of it ${check.name}`, value: tookMs / 1_000, unit: 's' })
  }
  return [
    { measure: 'five million rows', value: sumMs / 1_000, unit: 's', wanted: atMost(150, { must: 300 }) },
    { measure: 'rows named', value: found, unit: 'findings', wanted: atMost(0, { always: true }) },
    ...figures,
  ]
}

const LIMITS = [
  {
    account: 'default',
    operation: 'list-alert-rules',
    windows: [
      { maxCalls: 50, windowMs: 1_000 },
      { maxCalls: 1_000, windowMs: 60_000 },
    ],
  },
  {
    account: 'default',
    operation: 'import-subscribers',
    windows: [
      { maxCalls: 2, windowMs: 1_000 },
      { maxCalls: 20, windowMs: 60_000 },
    ],
  },
]

const VERSIONS_OF_RULE = 10
/** Runs that change each rule once, between them. */
const RUNS_OF_ROUND = 1_000

function openOn(databaseUrl: string, lab: Lab) {
  const database = openDatabase(databaseUrl, pino({ level: 'silent' }))
  lab.defer(() => database[Symbol.asyncDispose]())
  return database
}

/** Made within Postgres, and sound: each change is of a run that was applied at its instant. */
async function fill(client: Client, databaseUrl: string, lab: Lab): Promise<void> {
  await client.query('set synchronous_commit = off')
  await client.query(RUNS, [VERSIONS_OF_RULE, RUNS_OF_ROUND, lab.size(300_000, 3_000)])
  await client.query(VERSIONS, [VERSIONS_OF_RULE, RUNS_OF_ROUND, lab.size(300_000, 3_000)])
  await client.query(LIMIT_ROWS)
  await client.query(CALLS, [lab.size(1_000_000, 10_000)])
  const { pool } = openOn(databaseUrl, lab)
  const id = await putLargeImport(pool, { rows: lab.size(1_000_000, 10_000), isSent: true })
  for (const statement of [IMPORT_CALLS, IMPORT_COUNTS, LOCALES, CONFIRMED])
    await client.query(statement, [id])
  await client.query('vacuum analyze')
}

const INSTANT = `date_trunc('day', now()) - interval '30 days'`

const RUNS = `
  insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at, applied_at,
    finished_at, seen, added, changed)
  select 'default', 'alert-rules', 'schedule', '{"folders": ["0"]}', '10,20%', 1, 'succeeded', at, at, at, $3::int / $2::int,
    case when n < $2::int then $3::int / $2::int else 0 end, case when n < $2::int then 0 else $3::int / $2::int end
  from generate_series(0, $1::int * $2::int - 1) as n, lateral (select ${INSTANT} + n * interval '1 minute' as at) as instant
  order by n`

const VERSIONS = `
  insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, closed_by_run, fingerprint, account_id,
    folder_id, name, ds_type, enabled, debug_log_enabled, cron_pattern, delay_seconds, creator_id, creator_name, updater_id,
    updater_name, created_at, updated_at)
  select 'default', 4203000000000 + rule, ${INSTANT} + run * interval '1 minute',
    case when version < $1::int - 1 then ${INSTANT} + (run + $2::int) * interval '1 minute' end, run + 1,
    case when version < $1::int - 1 then run + $2::int + 1 end, md5(rule || '/' || version)::uuid, 1, rule % 200, 'rule ' || rule,
    'prometheus', true, false, '* * * * *', 0, 1, 'Ada', 1, 'Ada', 1, 1
  from generate_series(0, $1::int - 1) as version, generate_series(1, $3::int) as rule,
    lateral (select version * $2::int + rule % $2::int as run) as runs
  order by version, rule`

const LIMIT_ROWS = `
  insert into ferry.platform_limits (limit_key, operation)
  values ('account:default', 'list-alert-rules'), ('account:default', 'import-subscribers')`

const CALLS = `
  insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, request_id)
  select 'account:default', 'default', 'list-alert-rules', at, at + interval '5 s', at + interval '300 ms', 200, 'request-' || n
  from generate_series(1, $1::int) as n, lateral (select now() - n * interval '0.1 s' as at) as instant order by n desc`

const IMPORT_CALLS = `
  with calls as (
    insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, batch_id)
    select 'account:default', 'default', 'import-subscribers', at, at + interval '5 s', at + interval '300 ms', 200, id
    from ferry.import_batches, lateral (select now() - id * interval '4 s' as at) as instant where import_id = $1
    returning id, batch_id
  )
  update ferry.import_batches b set call_id = c.id from calls c where c.batch_id = b.id`

const IMPORT_COUNTS = 'update ferry.imports set requests = batches where id = $1'

const LOCALES = `
  insert into ferry.import_locales (import_id, locale, sent)
  select import_id, locale, count(*) from ferry.import_recipients where import_id = $1 group by import_id, locale`

const CONFIRMED = `
  insert into ferry.audit (account, actor, action, subject_kind, subject_id)
  values ('default', 'bench', 'confirm', 'import', $1::bigint::text)`
