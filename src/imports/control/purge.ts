import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { and, drizzleOf, eq, isNotNull, or } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { loadAgo, type OldRows, removeInBatches } from '#src/db/prune.ts'
import { countOf, findColumn, findOne, findValue } from '#src/db/rows.ts'
import { lockForMove, moveImport } from '#src/imports/move-import.ts'
import { importLeftOut, importRecipients, importRejects } from '#src/imports/schema.ts'
import type { ActedBy } from '#src/model/act.ts'
import { reasonOf } from '#src/model/reason.ts'
import { refusal } from './decide.ts'

/** In SQL, whether a row `r` of the call log is the call of a batch: it belongs to the record of that batch, and stays with it. */
export const IS_CALL_OF_BATCH = 'r.batch_id is not null'

/**
 * Removes the recipients of an import that has ended. Returns of how many rows; 0 if it was purged before. Their hashes
 * stay: by these a later import finds recipients that were sent. `by` is null if its time has come and no person asked for it.
 */
export function purgeImport(pool: Pool, id: bigint, by: ActedBy | null): Promise<number> {
  return inTransaction(pool, async client => {
    const found = await lockForMove(client, id)
    if (found.purged_at !== null) return 0
    const { refused } = await moveImport(client, found, { event: 'purge', by })
    if (refused !== null) throw refusal(found, refused)
    return purgeRows(client, id)
  })
}

/** Addresses and lines of the file stand in these columns only; numbers, times, request_ids and platform messages stay. */
async function purgeRows(client: PoolClient, id: bigint): Promise<number> {
  const db = drizzleOf(client)
  const recipients = await db
    .update(importRecipients)
    .set({ recipient: null, raw: null })
    .where(
      and(
        eq(importRecipients.import_id, id),
        or(isNotNull(importRecipients.recipient), isNotNull(importRecipients.raw)),
      ),
    )
  const rejects = await db
    .update(importRejects)
    .set({ raw: null })
    .where(and(eq(importRejects.import_id, id), isNotNull(importRejects.raw)))
  const leftOut = await db
    .update(importLeftOut)
    .set({ recipient: null })
    .where(and(eq(importLeftOut.import_id, id), isNotNull(importLeftOut.recipient)))
  return countOf(recipients) + countOf(rejects) + countOf(leftOut)
}

/** Recipients whose address is removed in one transaction. */
const BATCH_ROWS = 5_000

/** Returns the recipients of imports that ended long ago. Their addresses and raw rows are removed; the rows stay. */
export function oldRecipients(pool: Pool, keepMs: number | null): OldRows {
  return {
    table: 'ferry.import_recipients',
    keepMs,
    async count() {
      const sum = `select count(*)::int from ferry.import_recipients r where import_id = any ($1) and ${IS_PERSONAL}`
      return findValue(pool, z.number(), sum, [await loadOldImports(pool, keepMs)])
    },
    async remove(signal) {
      let sum = 0
      const failed = new Map<string, unknown>()
      for (const id of await loadOldImports(pool, keepMs)) {
        if (signal.aborted) break
        try {
          sum += await clearRecipients(pool, id, signal)
          // Its rejects and the rows left out, and that it is purged.
          if (!signal.aborted) await purgeImport(pool, BigInt(id), null)
        } catch (error) {
          // Another transaction may have this one. The others are to be purged all the same.
          failed.set(id, error)
        }
      }
      const [first] = failed.values()
      if (first)
        throw new Error(`imports not purged: ${[...failed.keys()].join(', ')}. ${reasonOf(first)}`, {
          cause: first,
        })
      return sum
    },
  }
}

const IS_PERSONAL = '(r.recipient is not null or r.raw is not null)'

async function loadOldImports(pool: Pool, keepMs: number | null): Promise<string[]> {
  const ended =
    'select id from ferry.imports where finished_at < $1::timestamptz and purged_at is null order by id'
  return findColumn(pool, z.string(), ended, [await loadAgo(pool, keepMs)])
}

function clearRecipients(pool: Pool, id: string, signal: AbortSignal): Promise<number> {
  let after = '0'
  return removeInBatches(async () => {
    const { last, removed } = await findOne(pool, ClearedPage, CLEAR_AFTER, [id, after, BATCH_ROWS])
    after = last ?? after
    return { removed, isLast: last === null }
  }, signal)
}

const ClearedPage = z.object({ last: z.string().nullable(), removed: z.number() })

const CLEAR_AFTER = `
  with page as materialized (
    select line from ferry.import_recipients where import_id = $1 and line > $2::bigint order by line limit $3::int
  ), cleared as (
    update ferry.import_recipients r set recipient = null, raw = null
    where import_id = $1 and line > $2::bigint and line <= (select max(line) from page) and ${IS_PERSONAL}
    returning line
  )
  select max(line)::text as last, (select count(*)::int from cleared) as removed from page`
