import type { Client } from 'pg'
import { atMost, percentile } from './support/figures.ts'
import type { Bench } from './support/lab.ts'
import { seeded } from './support/seeded.ts'

const RULES_A_FOLDER = 500
const VERSIONS_A_RULE = 10
const DAYS = 400

/** How quickly SQL answers what a folder's rules were at some instant, over a long history. */
export const asOf: Bench = async lab => {
  const rules = lab.size(100_000, 5_000)
  const client = await lab.connect(await lab.openDatabase())
  await client.query(HISTORY, [rules, VERSIONS_A_RULE, RULES_A_FOLDER, DAYS])
  await client.query(FIRINGS)
  await client.query('analyze')

  const random = seeded(1)
  const tookMs: number[] = []
  for (let query = 0; query < lab.size(300, 50); query++) {
    const folder = Math.floor(random() * (rules / RULES_A_FOLDER))
    const daysAgo = 1 + random() * (DAYS - 2)
    tookMs.push(await timeOfQuery(client, folder, daysAgo))
  }
  const what = `as of any instant, a folder of ${RULES_A_FOLDER}, ${rules * VERSIONS_A_RULE} versions`
  return [
    { measure: `${what}: p95`, value: percentile(tookMs, 0.95), unit: 'ms', wanted: atMost(50) },
    { measure: `${what}: p50`, value: percentile(tookMs, 0.5), unit: 'ms' },
  ]
}

async function timeOfQuery(client: Client, folder: number, daysAgo: number): Promise<number> {
  const startedAtMs = performance.now()
  const { rows } = await client.query(
    `select * from ferry.alert_rules_as_of(now() - $1 * interval '1 day') where folder_id = $2`,
    [daysAgo, 3_100_000_000_000 + folder],
  )
  const tookMs = performance.now() - startedAtMs
  if (rows.length !== RULES_A_FOLDER) throw new Error(`the folder had ${rows.length} rules`)
  return tookMs
}

/**
 * Every rule from the first day on, changed at instants spread over the days, each rule at its own; written as it
 * would have been, oldest first, so that neighbours in the table are of all folders.
 */
const HISTORY = `
  insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, closed_by_run, fingerprint,
    account_id, folder_id, name, labels, ds_type, enabled, debug_log_enabled, cron_pattern, timezone, delay_seconds,
    creator_id, creator_name, updater_id, updater_name, created_at, updated_at)
  select 'default', 4203000000000 + rule, valid_from, valid_to, 1, case when valid_to is not null then 2 end,
    md5(rule || '/' || version)::uuid, 100000000001, 3100000000000 + rule % ($1::int / $3::int),
    'checkout-api: p99 latency above ' || rule || ' ms (prod, eu-central-1)',
    jsonb_build_object('team', 'team-' || rule % 40, 'service', 'service-' || rule % 400, 'severity', 'critical',
      'env', 'prod', 'region', 'eu-central-1'),
    'prometheus', true, false, '* * * * *', 'Europe/Berlin', version, 200000000000 + rule % 90, 'Ada Lovelace',
    200000000000 + version, 'Grace Hopper', 1793500200, 1793500200 + version
  from (
    select rule, version, valid_from, lead(valid_from) over (partition by rule order by version) as valid_to
    from generate_series(1, $1::int) as rule, generate_series(0, $2::int - 1) as version,
      lateral (select now() - $4::int * interval '1 day' +
        case when version = 0 then interval '0'
        else (version - 1 + hashint8(rule::bigint * 1000 + version) % 1000 / 2000.0 + 0.5) / ($2::int - 1)
          * $4::int * interval '1 day' end as valid_from) as at
  ) as history
  order by valid_from`

/** One version in five fired once, for an hour. */
const FIRINGS = `
  insert into ferry.alert_rule_firings (account, id, began, ended, began_run, ended_run)
  select account, id, valid_from, valid_from + interval '1 hour', 1, 2 from ferry.alert_rule_versions
  where opened_by_run = 1 and delay_seconds in (3, 8)`
