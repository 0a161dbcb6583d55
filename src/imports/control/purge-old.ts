import type { Pool } from 'pg'
import { loadAgo, type OldRows, removeInBatches } from '#src/db/prune.ts'
import { onlyRow } from '#src/db/rows.ts'
import { purgeImport } from './purge.ts'

/** Recipients whose address is removed in one transaction. */
const BATCH_ROWS = 5_000

/** Returns the recipients of imports that ended long ago. Their addresses and raw rows are removed; the rows stay. */
export function oldRecipients(pool: Pool, keepMs: number | null): OldRows {
  return {
    table: 'ferry.import_recipients',
    keepMs,
    async count() {
      const sum = `select count(*)::int as people from ferry.import_recipients r where import_id = any ($1) and ${IS_PERSONAL}`
      const { rows } = await pool.query<{ people: number }>(sum, [await loadOldImports(pool, keepMs)])
      return onlyRow(rows, 'the count of recipients').people
    },
    async remove(signal) {
      let sum = 0
      for (const id of await loadOldImports(pool, keepMs)) {
        sum += await clearRecipients(pool, id, signal)
        if (signal.aborted) break
        // Its rejects and the rows left out, and that it is purged.
        await purgeImport(pool, BigInt(id), null)
      }
      return sum
    },
  }
}

const IS_PERSONAL = '(r.recipient is not null or r.raw is not null)'

async function loadOldImports(pool: Pool, keepMs: number | null): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from ferry.imports where finished_at < $1::timestamptz and purged_at is null order by id',
    [await loadAgo(pool, keepMs)],
  )
  return rows.map(({ id }) => id)
}

function clearRecipients(pool: Pool, id: string, signal: AbortSignal): Promise<number> {
  let after = '0'
  return removeInBatches(async () => {
    const { rows } = await pool.query<{ last: string | null; removed: number }>(CLEAR_AFTER, [
      id,
      after,
      BATCH_ROWS,
    ])
    const { last, removed } = onlyRow(rows, 'the count of cleared recipients')
    after = last ?? after
    return { removed, isLast: last === null }
  }, signal)
}

const CLEAR_AFTER = `
  with page as materialized (
    select line from ferry.import_recipients where import_id = $1 and line > $2::bigint order by line limit $3::int
  ), cleared as (
    update ferry.import_recipients r set recipient = null, raw = null
    where import_id = $1 and line > $2::bigint and line <= (select max(line) from page) and ${IS_PERSONAL}
    returning line
  )
  select max(line)::text as last, (select count(*)::int from cleared) as removed from page`
