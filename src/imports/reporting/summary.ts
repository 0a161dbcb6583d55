import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf } from '#src/db/drizzle.ts'
import { findAll, findColumn, findMaybe } from '#src/db/rows.ts'
import { ImportNotFound } from '#src/imports/errors.ts'
import { imports } from '#src/imports/schema.ts'
import { IS_NOT_COUNTED_YET } from '#src/imports/states.ts'
import { IMPORT_STATUSES, type ImportSummary, ON_UNCERTAIN } from '#src/model/import.ts'

/** How many rows of an import are in which state. */
export const RowCounts = z.object({
  sent: z.number(),
  rejected: z.number(),
  duplicate: z.number(),
  suppressed: z.number(),
  alreadyImported: z.number(),
  uncertain: z.number(),
  pending: z.number(),
})
export type RowCounts = Readonly<z.infer<typeof RowCounts>>

/** An import with its counts of rows, as the database returns it: numbers beyond 32 bits are text. */
export const SummaryRow = z.object({
  id: z.string(),
  account: z.string(),
  pageId: z.string(),
  method: z.string(),
  status: z.enum(IMPORT_STATUSES),
  file: z.string(),
  createdAt: z.date(),
  stagedAt: z.date().nullable(),
  confirmedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  purgedAt: z.date().nullable(),
  read: z.number(),
  ...RowCounts.shape,
  /** Pause once this many rows have been sent; null: no pause. */
  firstRows: z.number().nullable(),
  onUncertain: z.enum(ON_UNCERTAIN),
  batches: z.number(),
  requests: z.number(),
  durationMs: z.number(),
  pauseCode: z.string().nullable(),
  pauseHttpStatus: z.number().nullable(),
  pauseRequestId: z.string().nullable(),
  pauseMessage: z.string().nullable(),
  pauseWhatToDo: z.string().nullable(),
})
export type SummaryRow = Readonly<z.infer<typeof SummaryRow>>

/**
 * Made of the counts kept with the import, and of the few batches whose claim has expired and is not ended yet. `batches`
 * are those made, without those split since, and, until the import has ended, those still to be made.
 */
export const SUMMARIES = `
  select i.id, i.account, i.page_id, i.method, i.status, i.file, i.created_at, i.staged_at, i.confirmed_at,
    i.finished_at, i.purged_at, i.first_rows, i.on_uncertain, i.read, i.sent, i.rejected, i.duplicate, i.suppressed,
    i.already_imported, i.uncertain + b.lost as uncertain,
    i.recipients - i.sent - i.uncertain - b.lost as pending,
    i.batches + case when i.finished_at is null
      then (ceil(f.first::numeric / f.of) + ceil((i.recipients - i.batched - f.first)::numeric / f.of))::int
      else 0 end as batches,
    i.requests,
    round(extract(epoch from
        coalesce(i.finished_at, i.rests_since, case when i.confirmed_at is null then i.staged_at end, now())
        - coalesce(i.confirmed_at, i.created_at)) * 1000 - i.rested_ms)::float8 as duration_ms,
    i.pause_code,
    (select b.http_status from ferry.import_batches b
     where b.import_id = i.id and b.state in ('ready', 'suspect', 'uncertain') and b.request_id = i.pause_request_id
     limit 1) as pause_http_status,
    i.pause_request_id, i.pause_message, i.pause_what_to_do
  from ferry.imports i
  cross join lateral (
    select coalesce(sum(b.rows), 0)::int as lost from ferry.import_batches b
    where b.import_id = i.id and ${IS_NOT_COUNTED_YET}) b
  -- What is to be sent first ends with a batch of its own.
  cross join lateral (
    select greatest(least(coalesce(i.first_rows, 0), i.recipients) - i.batched, 0) as first,
      least(i.batch_rows, i.max_rows) as of) f`

/** Returns an import with its counts. Throws `ImportNotFound`. */
export async function loadSummary(pool: Pool, id: bigint): Promise<ImportSummary> {
  return summaryOf(await findSummaryRow(pool, id))
}

/** The same with everything that is stored about it. Throws `ImportNotFound`. */
export async function findSummaryRow(client: Pool | PoolClient, id: bigint): Promise<SummaryRow> {
  const row = await loadSummaryRow(client, id)
  if (!row) throw new ImportNotFound(id)
  return row
}

/** Null if there is no import of that id. */
export function loadSummaryRow(client: Pool | PoolClient, id: bigint): Promise<SummaryRow | null> {
  return findMaybe(client, SummaryRow, `${SUMMARIES} where i.id = $1`, [id])
}

/** Which imports are wanted; what is left out does not narrow them. */
export type ImportFilter = {
  readonly account?: string | undefined
  readonly status?: string | undefined
  readonly since?: Date | undefined
  /** Only imports that are older than this one. */
  readonly before?: bigint | undefined
}

/** Returns the newest imports first. */
export function listSummaryRows(
  pool: Pool,
  limit: number,
  { account, status, since, before }: ImportFilter = {},
): Promise<SummaryRow[]> {
  return findAll(
    pool,
    SummaryRow,
    `${SUMMARIES} where i.id in (
       select id from ferry.imports
       where ($2::text is null or account = $2) and ($3::text is null or status = $3)
         and ($4::timestamptz is null or created_at >= $4) and ($5::bigint is null or id < $5)
       order by id desc limit $1)
     order by i.id desc`,
    [limit, account, status, since, before],
  )
}

/** The keys in the order that is promised to scripts. */
export function summaryOf(row: SummaryRow): ImportSummary {
  return {
    import: BigInt(row.id),
    account: row.account,
    page: BigInt(row.pageId),
    status: row.status,
    read: row.read,
    ...RowCounts.parse(row),
    batches: row.batches,
    requests: row.requests,
    durationMs: row.durationMs,
  }
}

/** Why an import is paused. */
export type PauseReport = {
  /** The platform's code, or one of Ferry's; null if a person paused it. */
  readonly code: string | null
  readonly httpStatus: number | null
  readonly requestId: string | null
  /** The cause, without the platform's words: they may name somebody. */
  readonly message: string | null
  readonly whatToDo: string | null
}

/** Null if it is not paused. */
export function pauseReportOf(row: SummaryRow): PauseReport | null {
  if (row.status !== 'paused') return null
  return {
    code: row.pauseCode,
    httpStatus: row.pauseHttpStatus,
    requestId: row.pauseRequestId,
    message: row.pauseMessage,
    whatToDo: row.pauseWhatToDo,
  }
}

/** A pause with the platform's words, which may name recipients. */
export type PauseWithWords = PauseReport & {
  /** The platform's own words; null if there are none. */
  readonly platformMessage: string | null
}

/** Null if it is not paused. Reads what the reader role may not. */
export async function loadPauseWithWords(
  client: Pool | PoolClient,
  row: SummaryRow,
): Promise<PauseWithWords | null> {
  const pause = pauseReportOf(row)
  if (pause === null) return null
  const [platformMessage = null] = await findColumn(
    client,
    z.string().nullable(),
    `select message from ferry.import_batches
     where import_id = $1 and request_id = $2 and state <> 'split' order by call_id desc limit 1`,
    [row.id, pause.requestId],
  )
  return { ...pause, platformMessage }
}

/** How many imports of an account have this status, and how many of their rows are in which state. */
const ImportCount = z.object({
  account: z.string(),
  status: z.enum(IMPORT_STATUSES),
  imports: z.number(),
  ...RowCounts.shape,
})
export type ImportCount = Readonly<z.infer<typeof ImportCount>>

/** Returns the counts of all imports. A batch whose claim has expired counts as pending until it is reclaimed. */
export function countImports(client: Pool | PoolClient): Promise<ImportCount[]> {
  return findAll(
    client,
    ImportCount,
    `select account, status, count(*)::float8 as imports, sum(sent)::float8 as sent, sum(rejected)::float8 as rejected,
       sum(duplicate)::float8 as duplicate, sum(suppressed)::float8 as suppressed,
       sum(already_imported)::float8 as already_imported, sum(uncertain)::float8 as uncertain,
       sum(recipients - sent - uncertain)::float8 as pending
     from ferry.imports group by account, status order by account, status`,
  )
}

/** Returns the names of all accounts that have imports, whether they are still configured or not. */
export async function listImportedAccounts(pool: Pool): Promise<string[]> {
  const rows = await drizzleOf(pool)
    .selectDistinct({ account: imports.account })
    .from(imports)
    .orderBy(imports.account)
  return rows.map(row => row.account)
}
