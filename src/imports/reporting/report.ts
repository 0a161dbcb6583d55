import type { Pool, PoolClient } from 'pg'
import { ImportNotFound } from '#src/imports/errors.ts'
import { type ImportCounts, type ImportSummary, missingOf } from '#src/model/import.ts'
import { type BatchWithWords, listBatches } from './batches.ts'
import { ReasonRow } from './reasons.ts'
import { countRows, type RowCounts } from './recount.ts'
import {
  loadPauseWithWords,
  loadSummaryRow,
  type PauseWithWords,
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
    const row = await loadSummaryRow(client, id)
    if (!row) throw new ImportNotFound(id)
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

/** Returns why rows are not sent and how many, the most frequent reason first. */
async function countReasons(client: PoolClient, id: bigint): Promise<ReasonRow[]> {
  const { rows } = await client.query(
    `select 'rejected' as kind, origin, reason, count(*)::int as rows from ferry.import_rejects
       where import_id = $1 group by origin, reason
     union all
     select kind, null, reason, count(*)::int from ferry.import_left_out where import_id = $1 group by kind, reason
     order by rows desc, kind, reason`,
    [id],
  )
  return ReasonRow.array().parse(rows)
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
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    purgedAt: row.purged_at,
    next: [waitsFor(row)?.why, nextInWords(row)].filter(Boolean).join(' '),
    batches,
    reasons,
    differences: differences(kept, summary),
  }
}

const COUNTS = [
  'sent',
  'rejected',
  'duplicate',
  'suppressed',
  'alreadyImported',
  'uncertain',
  'pending',
] as const

function differences(kept: ImportCounts, counted: ImportCounts): string[] {
  const missing = missingOf(counted)
  const sum =
    missing === 0 ? [] : [`${counted.read} rows were read, and ${counted.read - missing} are accounted for`]
  return [
    ...sum,
    ...COUNTS.filter(count => kept[count] !== counted[count]).map(
      count => `${count}: the rows give ${counted[count]}, the kept count is ${kept[count]}`,
    ),
  ]
}
