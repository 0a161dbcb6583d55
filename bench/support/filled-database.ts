import type { Client, Pool } from 'pg'
import { pino } from 'pino'
import { openDatabase } from '#src/db/pool.ts'
import type { Lab } from './lab.ts'
import { putLargeImport } from './large-import.ts'

/** How much there is in a database that was filled for a bench. */
export type Filling = {
  readonly rules: number
  readonly versionsOfRule: number
  readonly episodes: number
  readonly nights: number
  readonly servers: number
  /** Recipients of one import that has been sent, and a third as many rejects. */
  readonly recipients: number
  /** Calls to the platform that are kept, those of runs and of the import among them. */
  readonly calls: number
}

const DAYS_OF_POLLS = 30

/**
 * A database as large as Ferry promises to be quick with: 100,000 rules with a million versions, a year of nights, a million
 * recipients. Returns its address, and a connection to it.
 */
export async function openFilledDatabase(lab: Lab): Promise<{ databaseUrl: string; client: Client }> {
  const databaseUrl = await lab.openDatabase()
  const client = await lab.connect(databaseUrl)
  const database = openDatabase(databaseUrl, pino({ level: 'silent' }))
  lab.defer(() => database[Symbol.asyncDispose]())
  const rules = lab.size(100_000, 2_000)
  await fillDatabase(client, database.pool, {
    rules,
    versionsOfRule: 10,
    episodes: rules * 5,
    nights: 365,
    servers: lab.size(2_000, 100),
    recipients: lab.size(1_000_000, 10_000),
    calls: lab.size(1_000_000, 50_000),
  })
  return { databaseUrl, client }
}

/** Few, so that sending them at the limit takes most of a day. */
const BATCH_ROWS = 50

/** Accounts with calls of their own, and nothing else. */
const OTHER_ACCOUNTS = 9

/**
 * Fills a database with a history: each rule with its versions, spread over the nights, each at a whole minute; episodes of
 * a twentieth of the rules; servers and their versions; runs and snapshots; an import; calls. Then it vacuums and analyzes,
 * as autovacuum does in the course of a year. Takes about a minute at full size.
 */
export async function fillDatabase(client: Client, pool: Pool, filling: Filling): Promise<void> {
  const { rules, versionsOfRule, episodes, nights, servers, recipients, calls } = filling
  await client.query('set synchronous_commit = off')
  await client.query(RULES, [rules, versionsOfRule, nights])
  await client.query(EPISODES, [rules, episodes, nights])
  await client.query(OPEN_EPISODES, [rules])
  await client.query(SERVERS, [servers, versionsOfRule, nights])
  await client.query(RUNS, [nights, DAYS_OF_POLLS])
  await client.query(SNAPSHOTS)
  await client.query(PROMISES)
  const id = await putLargeImport(pool, { rows: recipients, batchRows: BATCH_ROWS, isSent: true })
  await client.query(REJECTS, [id, Math.ceil(recipients / 3)])
  await client.query(LOCALES)
  await client.query(LIMITS, [OTHER_ACCOUNTS])
  await client.query(CALLS)
  await client.query(BATCH_CALLS)
  await client.query(OTHER_CALLS, [calls, OTHER_ACCOUNTS, DAYS_OF_POLLS])
  await client.query('vacuum analyze')
}

/**
 * Written as it would have been, oldest first, so that neighbours in the table are of all folders. Five people
 * edit a folder. One rule in twenty was added late, one in two hundred is gone. 8 % of the versions are disabled, 3 % log for debugging.
 */
const RULES = `
  insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, closed_by_run, fingerprint,
    account_id, folder_id, name, labels, ds_type, enabled, debug_log_enabled, cron_pattern, timezone, delay_seconds,
    creator_id, creator_name, updater_id, updater_name, created_at, updated_at, flags)
  select 'default', 4203000000000 + rule, valid_from, valid_to, 1, case when valid_to is not null then 2 end,
    md5(rule || '/' || version)::uuid, 100000000001, 3100000000000 + rule % greatest($1::int / 500, 1),
    'checkout-api: p99 latency above ' || rule || ' ms (prod, eu-central-1)',
    case when rule % 20 = 7 then null else jsonb_build_object(
      (array['team', 'team', 'team', 'Team', 'owner'])[1 + rule % 5], 'team-' || rule % 40, 'service', 'service-' || rule % 400,
      'severity', 'critical', 'env', 'prod', 'region', 'eu-central-1') end,
    'prometheus', hash % 100 >= 8, hash / 100 % 100 < 3,
    (array['* * * * *', '*/2 * * * *', '*/5 * * * *', '*/15 * * * *', '0 8 * * *', '0 * * * *', '*/10 8-20 * * 1-5', '30 6 * * *',
      '0 9 * * 1-5', '0 0 1 * *'])[1 + rule % 10],
    (array['Asia/Shanghai', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC', null, ''])[1 + rule % 7], version,
    200000000000 + rule % 90, 'Creator ' || rule % 90, 200000000000 + editor, 'Editor ' || editor,
    1793500200, 1793500200 + version, case when rule % 1000 = 3 then array['timezone is not an IANA name'] end
  from (
    select rule, version, valid_from, abs(hashint8(rule::bigint * 1000 + version)) as hash,
      (rule % greatest($1::int / 500, 1) * 7 + abs(hashint8(rule::bigint * 1000 + version)) % 5) % 90 as editor, coalesce(
      lead(valid_from) over (partition by rule order by version),
      case when rule % 200 = 11 then valid_from + interval '1 day' end) as valid_to
    from generate_series(1, $1::int) as rule, generate_series(0, $2::int - 1) as version, lateral (
      select date_trunc('minute', now()) - $3::int * interval '1 day' + trunc(
        case when version = 0 then 0
        else (version - abs(hashint8(rule::bigint * 1000 + version)) % 1000 / 1001.0) / ($2::int - 1) * $3::int * 1440 end) * interval '1 minute' as valid_from) as at
    where version > 0 or rule % 20 <> 5
  ) as history
  order by valid_from, rule`

/** Each of these rules fires now and then, for a minute to four hours, and at times again within minutes. */
const EPISODES = `
  insert into ferry.alert_rule_firings (account, id, began, ended, began_run, ended_run)
  select 'default', 4203000000000 + rule, began, began + (1 + abs(hashint8(rule::bigint * 7919 + n)) % (case when gap > 300 then 240 else gap - 1 end)) * interval '1 minute', 1, 2
  from (
    select rule, n, began, coalesce(extract(epoch from lead(began) over (partition by rule order by began) - began) / 60, 300)::int as gap
    from (
      select distinct on (rule, began) rule, n, began
      from generate_series(20, $1::int, 20) as rule, generate_series(1, $2::int * 20 / $1::int) as n, lateral (
        select date_trunc('minute', now()) - interval '1 day' - case
          -- Every fourth follows the one before it after ten minutes.
          when n % 4 = 0 then abs(hashint8(rule::bigint * 104729 + n - 1)) % ($3::int * 1440) - 10
          else abs(hashint8(rule::bigint * 104729 + n)) % ($3::int * 1440) end * interval '1 minute' as began) as at
      order by rule, began, n
    ) as chosen
  ) as spaced
  where gap > 1
  order by began, rule`

/** One rule in fifty fires now. */
const OPEN_EPISODES = `
  insert into ferry.alert_rule_firings (account, id, began, began_run)
  select 'default', 4203000000000 + rule, date_trunc('minute', now()) - (1 + rule % 600) * interval '1 minute', 3
  from generate_series(10, $1::int, 50) as rule`

/** Ten servers of each product have the same tools. */
const SERVERS = `
  insert into ferry.mcp_server_versions (account, server_id, valid_from, valid_to, opened_by_run, closed_by_run, fingerprint,
    account_id, team_id, can_edit, server_name, description, transport, url, status, connect_timeout, call_timeout, tool_count, tools,
    auth_mode, created_by, created_at, updated_at)
  select 'default', (6301000000000 + server)::text, valid_from, lead(valid_from) over (partition by server order by version), 1,
    case when version < $2::int - 1 then 2 end, md5(server || '/' || version)::uuid, 100000000001, server % 7, true,
    'Server ' || server - server % 2, 'Repositories, issues and pull requests', 'streamable-http',
    case when server % 10 = 0 then 'http' else 'https' end || '://mcp.example.com/' || server,
    case when server % 8 = 0 then 'disabled' else 'enabled' end, 10, 30, 8,
    (select jsonb_agg(jsonb_build_object('name', (array['search_code', 'get_issue', 'create_issue', 'delete_branch'])[1 + n % 4] || '_' || server % 200 * 8 + n,
       'description', 'Version ' || version || ' of what tool ' || n || ' does') order by n) from generate_series(1, 8) as n),
    'shared', 200000000000 + server % 90, 1793500200000, 1793500200000 + version
  from generate_series(1, $1::int) as server, generate_series(0, $2::int - 1) as version, lateral (
    select date_trunc('minute', now()) - $3::int * interval '1 day' + trunc(version::numeric / $2::int * $3::int * 1440 + server * 7 % 50000)
      * interval '1 minute' as valid_from) as at
  order by valid_from, server`

/** The runs of the nights, and for the last so many days a poll each minute: all that is not pruned by default. */
const RUNS = `
  insert into ferry.sync_runs (account, resource, trigger, slot, scope, guard, fingerprint_version, status, started_at, applied_at,
    finished_at, requests, pages, seen, unchanged, error_code)
  select 'default', resource, 'schedule', at, jsonb_build_object('folders', case when resource = 'alert-rules' then array['0'] end), '10,20%', 1,
    status, at, case when status = 'succeeded' then at + interval '4 s' end, at + interval '5 s', 1, 1, 100000, 100000,
    case when status = 'failed' then 'InternalError' end
  from (
    select night as at, resource, 'succeeded' as status
    from generate_series(date_trunc('day', now()) - $1::int * interval '1 day', date_trunc('day', now()) - interval '1 day', '1 day') as night,
      unnest(array['alert-rules', 'mcp-servers']) as resource
    union all
    select at, 'alert-rules', case when extract(epoch from at)::bigint / 60 % 500 < 3 then 'failed' else 'succeeded' end
    from generate_series(date_trunc('minute', now()) - $2::int * interval '1 day', now(), '1 minute') as at
  ) as runs
  order by at, resource`

const CALLS = `
  insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, error_code, request_id, run_id)
  select 'default', account, case resource when 'alert-rules' then 'list-alert-rules' else 'list-mcp-servers' end, started_at,
    started_at + interval '5 s', started_at + (100 + id % 900) * interval '1 ms', case when error_code is null then 200 else 500 end,
    error_code, 'request-' || id, id
  from ferry.sync_runs order by started_at`

const SNAPSHOTS = `
  insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
  select m.account, m.slot, m.applied_at, 'succeeded', min(a.id), m.id
  from ferry.sync_runs m join ferry.sync_runs a on a.slot = m.slot and a.resource = 'alert-rules'
  where m.resource = 'mcp-servers' group by m.id order by m.slot`

const PROMISES = `
  insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders)
  values ('default', 'alert-rules', '3 minutes', 'poll-alert-rules', 'UTC', '["0"]'),
    ('default', 'mcp-servers', '25 hours', 'snapshot-inventory', 'UTC', 'null')`

const REJECTS = `
  insert into ferry.import_rejects (import_id, line, origin, reason, message, raw)
  select $1, 10000000 + n, case when n % 3 = 0 then 'platform' else 'file' end, 'reason ' || n % 7, 'It is no address.',
    'first.last' || n || '.example.com,true,,en-US'
  from generate_series(1, $2::int) as n`

/** Kept by a trigger while batches are sent. */
const LOCALES = `
  insert into ferry.import_locales (import_id, locale, sent)
  select import_id, locale, count(*) from ferry.import_recipients group by import_id, locale`

const LIMITS = `
  insert into ferry.platform_limits (limit_key, operation, calls_per_minute)
  select 'default' || coalesce(n::text, ''), operation, case operation when 'import-subscribers' then 20 else 1000 end
  from (select null::int as n union all select generate_series(1, $1::int)) as accounts,
    unnest(array['list-alert-rules', 'list-mcp-servers', 'import-subscribers']) as operation`

/** One for each batch, twenty a minute, the last just now. */
const BATCH_CALLS = `
  with calls as (
    insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, request_id, batch_id)
    select 'default', 'default', 'import-subscribers', at, at + interval '5 s', at + (200 + id % 900) * interval '1 ms', 200,
      'request-b' || id, id
    from ferry.import_batches, lateral (select now() - id * interval '3 s' as at) as started
    order by at
    returning id, batch_id
  )
  update ferry.import_batches b set call_id = c.id from calls c where c.batch_id = b.id`

/** What is left of all calls: evenly over the days and the other accounts; one in a thousand is refused. */
const OTHER_CALLS = `
  insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, error_code, request_id, run_id)
  select 'default' || 1 + n % $2::int, 'default' || 1 + n % $2::int, 'list-alert-rules', at, at + interval '5 s',
    at + (100 + n % 900) * interval '1 ms', case when n % 1000 = 3 then 429 else 200 end,
    case when n % 1000 = 3 then 'RequestTooFrequently' end, 'request-o' || n, 1
  from (select $1::int - count(*) as calls from ferry.platform_calls) as others, generate_series(1, calls) as n,
    lateral (select now() - (calls - n) * $3::int * interval '1 day' / calls as at) as started`
