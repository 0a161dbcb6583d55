import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { type OldRows, oldCalls } from '#src/db/prune.ts'
import { IS_CALL_OF_BATCH } from '#src/imports/control/purge.ts'
import { oldHistory, oldRuns } from '#src/inventory/old-rows.ts'
import { insertCalls, insertIdleRuns, insertVersions } from '#test/support/many-rows.ts'
import { DAY_MS } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'

const ROWS = 60_000
const KEEP_MS = 90 * DAY_MS

const TABLES: readonly [
  table: string,
  fill: (pool: Pool, rows: number) => Promise<void>,
  old: (pool: Pool) => OldRows | undefined,
  /** How often each row may be read: for a run, the next one of its account is looked up. */
  reads: number,
][] = [
  ['platform_calls', insertCalls, pool => oldCalls(pool, KEEP_MS, IS_CALL_OF_BATCH), 4],
  ['sync_runs', insertIdleRuns, pool => oldRuns(pool, KEEP_MS), 15],
  ['alert_rule_versions', insertVersions, pool => oldHistory(pool, KEEP_MS)[0], 4],
]

test.for(TABLES)(
  '%s is pruned in small transactions, which together read each row a few times',
  async ([table, fill, old, reads]) => {
    await using store = await openTestStore()
    await fill(store.pool, ROWS)
    await store.pool.query(`analyze ferry.${table}`)
    const count = async () => {
      const { rows } = await store.pool.query<{ n: number }>(`select count(*)::int as n from ferry.${table}`)
      return rows[0]?.n ?? 0
    }
    const database = new URL(store.url).pathname.slice(1)
    await store.pool.query(`alter database "${database}" set plan_cache_mode = force_generic_plan`)
    const rowsRead = async () => {
      const { rows } = await store.pool.query<{ n: number }>(
        `select (seq_tup_read + idx_tup_fetch)::int as n from pg_stat_user_tables
         where schemaname = 'ferry' and relname = $1`,
        [table],
      )
      return rows[0]?.n ?? 0
    }
    const pool = store.openPool()
    const due = (await old(pool)?.count()) ?? 0
    await pool.query('select pg_stat_force_next_flush()')
    const before = await rowsRead()
    expect(due).toBeGreaterThan(ROWS / 2)

    expect(await old(pool)?.remove(new AbortController().signal)).toBe(due)
    await pool.query('select pg_stat_force_next_flush()')
    expect((await rowsRead()) - before).toBeLessThan(reads * ROWS)
    expect(await count()).toBe(ROWS - due)
  },
)
