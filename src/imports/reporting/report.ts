import type { Pool, PoolClient } from 'pg'
import { findOne } from '#src/db/rows.ts'
import { IS_UNCERTAIN } from '#src/imports/states.ts'
import { type ImportCounts, type ImportSummary, missingOf } from '#src/model/import.ts'
import { type BatchWithWords, listBatches } from './batches.ts'
import { countReasons, type ReasonRow } from './reasons.ts'
import {
  findSummaryRow,
  loadPauseWithWords,
  type PauseWithWords,
  RowCounts,
  type SummaryRow,
  summaryOf,
} from './summary.ts'
import { nextInWords, waitsFor } from './waits-for.ts'

/** Everything about an import at one instant. */
export type Report = {
  /** Counted from the rows, not taken from the counts kept along the way. */
  readonly summary: ImportSummary
  readonly file: string
  readonly method: string
  readonly createdAt: Date
  readonly finishedAt: Date | null
  readonly purgedAt: Date | null
  readonly pause: PauseWithWords | null
  /** Why it waits for a person, if it is not paused, and what that person may do next; empty if there is nothing. */
  readonly next: string
  readonly batches: readonly BatchWithWords[]
  readonly reasons: readonly ReasonRow[]
  /** Counts that do not agree, one sentence each. Every one is an error of Ferry. */
  readonly differences: readonly string[]
}

/** Recounts an import. Throws `ImportNotFound`. */
export function reportImport(pool: Pool, id: bigint): Promise<Report> {
  return atOneInstant(pool, async client => {
    const row = await findSummaryRow(client, id)
    const counted = await countRows(client, id)
    const pause = await loadPauseWithWords(client, row)
    return {
      ...reportOf(row, counted, await listBatches(client, id), await countReasons(client, id)),
      pause,
    }
  })
}

/** The import may be sent on meanwhile: counts taken at two instants would not agree. */
async function atOneInstant<T>(pool: Pool, read: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    return await read(client)
  } finally {
    await client.query('rollback').catch(() => {})
    client.release()
  }
}

function reportOf(
  row: SummaryRow,
  counted: RowCounts,
  batches: readonly BatchWithWords[],
  reasons: readonly ReasonRow[],
): Omit<Report, 'pause'> {
  const kept = summaryOf(row)
  const summary = { ...kept, ...counted }
  return {
    summary,
    file: row.file,
    method: row.method,
    createdAt: row.createdAt,
    finishedAt: row.finishedAt,
    purgedAt: row.purgedAt,
    next: [waitsFor(row)?.why, nextInWords(row)].filter(Boolean).join(' '),
    batches,
    reasons,
    differences: differences(kept, summary),
  }
}

function differences(kept: ImportCounts, counted: ImportCounts): string[] {
  const missing = missingOf(counted)
  const sum =
    missing === 0
      ? []
      : [
          `${counted.read} ${counted.read === 1 ? 'row was' : 'rows were'} read, and ${counted.read - missing} are accounted for`,
        ]
  return [
    ...sum,
    ...RowCounts.keyof()
      .options.filter(count => kept[count] !== counted[count])
      .map(count => `${count}: the rows give ${counted[count]}, the kept count is ${kept[count]}`),
  ]
}

/**
 * Counts every row of an import; the counts kept along the way must be the same. A recipient is counted by the batch its line is in: it is pending if it is in no batch yet,
 * or in one that was neither sent nor is uncertain.
 */
export function countRows(client: PoolClient, id: bigint): Promise<RowCounts> {
  return findOne(
    client,
    RowCounts,
    `with batches as (
       select b.state, ${IS_UNCERTAIN} as is_uncertain,
         (select count(*) from ferry.import_recipients r
          where r.import_id = b.import_id and r.line between b.from_line and b.to_line) as rows
       from ferry.import_batches b where b.import_id = $1 and b.state <> 'split'
     )
     select coalesce(sum(rows) filter (where state = 'sent'), 0)::int as sent,
       coalesce(sum(rows) filter (where is_uncertain), 0)::int as uncertain,
       coalesce(sum(rows) filter (where state <> 'sent' and not is_uncertain), 0)::int
         + (select count(*)::int from ferry.import_recipients r
            where r.import_id = $1 and r.line > (select batched_to from ferry.imports where id = $1)) as pending,
       (select count(*)::int from ferry.import_rejects where import_id = $1) as rejected,
       (select count(*)::int from ferry.import_left_out where import_id = $1 and kind = 'duplicate') as duplicate,
       (select count(*)::int from ferry.import_left_out where import_id = $1 and kind = 'suppressed') as suppressed,
       (select count(*)::int from ferry.import_left_out where import_id = $1 and kind = 'already imported') as already_imported
     from batches`,
    [id],
  )
}
