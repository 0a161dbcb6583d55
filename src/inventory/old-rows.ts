import type { Pool } from 'pg'
import { z } from 'zod'
import { loadAgo, type OldRows, oldRows } from '#src/db/prune.ts'
import { countOf, findValue } from '#src/db/rows.ts'
import { wordsInSql } from '#src/db/words-in-sql.ts'
import { COMPLETE_STATUSES } from '#src/model/run.ts'
import { ALERT_RULE_VERSIONS, MCP_SERVER_VERSIONS } from './versioned-tables.ts'

/*
 * Which rows of the inventory's tables are old.
 */

const COMPLETE = wordsInSql(COMPLETE_STATUSES)

const DID_SOMETHING = (run: string) =>
  `${run}.added + ${run}.changed + ${run}.removed + ${run}.fired + ${run}.recovered > 0`

/**
 * Runs that changed nothing, to which nothing refers and on which no decision depends. Their quarantined rows go with them.
 *
 * The counts of a run say whether a version or firing names it. The latest complete run of each scope stays, however old it
 * is: the next run learns from it that its scope is not new. A run also stays while quarantined rows that it stored count for
 * a run that stays. `offset 0` makes Postgres look that up for each run: as joins, they would read whole tables for each batch.
 */
export function oldRuns(pool: Pool, keepMs: number | null): OldRows {
  const hasAged = 'r.finished_at < $1::timestamptz'
  return oldRows(pool, {
    table: 'ferry.sync_runs',
    keepMs,
    hasAged,
    // A run may have stored 500 quarantined rows.
    batchRows: 500,
    isOld: `${hasAged} and not (${DID_SOMETHING('r')})
      and (r.applied_at is null or exists (
        select from ferry.sync_runs later
        where later.account = r.account and later.resource = r.resource and later.id > r.id
          and later.scope = r.scope and later.status in (${COMPLETE}) offset 0))
      and not exists (select from ferry.snapshots s where s.alert_rules_run = r.id)
      and not exists (select from ferry.snapshots s where s.mcp_servers_run = r.id)
      and not exists (select from ferry.removal_holds h where h.opened_by_run = r.id)
      and not exists (select from ferry.removal_holds h where h.last_run = r.id)
      and not exists (select from ferry.contract_drift d where d.first_run = r.id)
      and not exists (select from ferry.platform_accounts p where p.first_run = r.id)
      and not exists (
        select from ferry.quarantined_rows q, ferry.sync_runs later
        where later.account = r.account and later.resource = r.resource and later.scope = r.scope
          and q.run_id = r.id and q.fingerprint is not null
          and later.id > r.id and coalesce(later.id < q.until_run, true)
          and (later.finished_at >= $1::timestamptz or later.finished_at is null or ${DID_SOMETHING('later')}) offset 0)`,
    async alongside(client, ago, runs) {
      await client.query('delete from ferry.quarantined_rows where run_id = any ($1::bigint[])', [runs])
      await client.query(MOVE_START_OF_RUNS, [ago])
    },
  })
}

/**
 * Quarantined rows that were last listed long ago: a row ended with the run that did not list it any more. Those that the
 * latest listing had stay, however old they are.
 */
export function oldQuarantinedRows(pool: Pool, keepMs: number | null): OldRows {
  return oldRows(pool, {
    table: 'ferry.quarantined_rows',
    keepMs,
    isOld: `r.until_run is not null and not exists (
      select from ferry.sync_runs u
      where u.id = r.until_run and (u.finished_at is null or u.finished_at >= $1::timestamptz))`,
    order: 'r.run_id',
    batchRows: 500, // A row may have a megabyte.
  })
}

const ENDED = [
  [ALERT_RULE_VERSIONS.name, 'valid_to'],
  [MCP_SERVER_VERSIONS.name, 'valid_to'],
  ['ferry.alert_rule_firings', 'ended'],
] as const

/**
 * Versions and firings that ended long ago. A current one is never removed. Once some are gone, the history is complete from
 * `ferry.history_start()` on only: earlier instants are refused, and the snapshots of that time are removed with them.
 */
export function oldHistory(pool: Pool, keepMs: number | null): readonly OldRows[] {
  const ended = ENDED.map(([table, end]) =>
    oldRows(pool, {
      table,
      keepMs,
      isOld: `r.${end} < $1::timestamptz`,
      order: `r.${end}`,
      alongside: (client, ago) => client.query(MOVE_START, [ago]),
    }),
  )
  return [...ended, oldSnapshots(pool, keepMs)]
}

/*
 * In one transaction with the removal: readers see both or neither.
 */

const MOVE_START = `
  insert into ferry.history as h (starts_at) values ($1::timestamptz)
  on conflict ("only") do update set starts_at = excluded.starts_at where h.starts_at < excluded.starts_at`

const MOVE_START_OF_RUNS = `
  insert into ferry.history as h (starts_at, runs_start_at) values ('-infinity', $1::timestamptz)
  on conflict ("only") do update set runs_start_at = greatest(h.runs_start_at, excluded.runs_start_at)`

/** Snapshots of instants at which the history is not complete any more. There are none as long as nothing is removed. */
function oldSnapshots(pool: Pool, keepMs: number | null): OldRows {
  return {
    table: 'ferry.snapshots',
    keepMs,
    async count() {
      const ago = await loadAgo(pool, keepMs)
      const willGo = ENDED.map(
        ([table, end]) => `exists (select from ${table} where ${end} < $1::timestamptz)`,
      )
      const start = `case when ${willGo.join(' or ')} then $1::timestamptz else '-infinity' end`
      const sum = `select count(*)::int from ferry.snapshots where taken_at < greatest(${start}, ferry.history_start())`
      return ago === null ? 0 : findValue(pool, z.number(), sum, [ago])
    },
    async remove() {
      const remove = 'delete from ferry.snapshots where taken_at < ferry.history_start()'
      return keepMs === null ? 0 : countOf(await pool.query(remove))
    },
  }
}
