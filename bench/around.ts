import type { Client } from 'pg'
import { atMost, type Figure, percentile } from './support/figures.ts'
import { openFilledDatabase } from './support/filled-database.ts'
import type { Bench } from './support/lab.ts'
import { seeded } from './support/seeded.ts'

/** How quickly `ferry.around` answers for an hour on either side, and `ferry.firing_at`, at any moment of a year of polls. */
export const around: Bench = async lab => {
  const { client } = await openFilledDatabase(lab)
  await client.query(POLLS)
  await client.query('vacuum analyze ferry.sync_runs')
  await client.query('set plan_cache_mode = force_generic_plan')
  const figures: Figure[] = []
  for (const name of ['around', 'firing_at']) {
    const random = seeded(1)
    const tookMs: number[] = []
    let rows = 0
    for (let query = 0; query < lab.size(200, 20); query++) {
      const hours = query % 2 === 0 ? random() * 8_000 : random() * 48
      const startedAtMs = performance.now()
      rows += await countRows(client, name, hours)
      tookMs.push(performance.now() - startedAtMs)
    }
    const measure = `${name} any moment of a year, ${Math.round(rows / tookMs.length)} rows on average: p95`
    figures.push({
      measure,
      value: percentile(tookMs, 0.95),
      unit: 'ms',
      wanted: atMost(300),
      rounds: { tookMs },
    })
  }
  return figures
}

async function countRows(client: Client, name: string, hoursAgo: number): Promise<number> {
  const text = `select * from ferry.${name}(now() - $1 * interval '1 hour')`
  return (await client.query({ name, text, values: [hoursAgo], rowMode: 'array' })).rows.length
}

/** Instead of the runs of the nights: one in each minute of which there is a version, an episode or a poll that is still kept. */
const POLLS = `
  with kept as (
    delete from ferry.sync_runs returning account, resource, date_trunc('minute', applied_at) as at
  ), minutes as (
    select account, 'alert-rules' as resource, valid_from as at from ferry.alert_rule_versions
    union select account, 'alert-rules', valid_to from ferry.alert_rule_versions where valid_to is not null
    union select account, 'alert-rules', began from ferry.alert_rule_firings
    union select account, 'alert-rules', ended from ferry.alert_rule_firings where ended is not null
    union select account, 'mcp-servers', valid_from from ferry.mcp_server_versions
    union select account, resource, at from kept where at is not null
  )
  insert into ferry.sync_runs (account, resource, trigger, slot, scope, guard, fingerprint_version, status, started_at, applied_at,
    finished_at, requests, pages, seen, added, changed, removed, fired, recovered)
  select account, resource, 'schedule', at, jsonb_build_object('folders', case when resource = 'alert-rules' then array['0'] end), '10,20%', 1,
    'succeeded', at - interval '4 s', at, at + interval '1 s', 1, 1, 100000, 1, 1, 1, 1, 1
  from minutes order by at, resource`
