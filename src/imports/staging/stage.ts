import type { Pool, PoolClient } from 'pg'
import { loadInstallation } from '#src/db/installation.ts'
import { inTransaction } from '#src/db/pool.ts'
import { openRecipientHashBytes } from '#src/imports/spellings.ts'
import { RowCheck } from './checks/row.ts'
import { afterDiskFull, isDiskFull } from './disk-space.ts'
import { mergeDuplicates } from './duplicates.ts'
import { openEnclosedCount } from './file/header.ts'
import { type OpenFile, openFile } from './file/rows.ts'
import { type FileSource, openSource } from './file/source.ts'
import type { ImportOptions } from './options.ts'
import { RowSink, type Tally } from './row-sink.ts'
import { expectOneStdin, readRules } from './rules.ts'
import { loadSamples } from './samples.ts'
import { loadMaybeSentBefore, noteSentBefore } from './sent-before.ts'
import {
  analyzeRecipients,
  beginStaging,
  countReasons,
  expectNothingMissing,
  finishStaging,
  type NewImport,
  type Staging,
} from './staging.ts'
import { reportOf, type StagingReport } from './staging-report.ts'
import { StagingWriter } from './staging-writer.ts'
import { copySuppressions, leaveOutSuppressed } from './suppression-list.ts'

/*
 * Staging: the rows of a file become an import that waits to be confirmed.
 *
 *     source ──► lines ──► records ──► checks ──┬──► import_recipients ──► without the suppressed, duplicates merged
 *     (bytes,    (whole,   (CSV or              ├──► import_rejects
 *      unpacked)  sound?)   NDJSON)             └──► import_left_out
 *
 * Rows that other imports have sent to the page are counted here, for the person who confirms, and left out when the work
 * begins.
 *
 * All of it is one transaction: a crash, a file that changes while it is read, or an interruption leaves nothing. Only some
 * blocks of the file are in memory at a time; what needs all rows (duplicates, suppressions) is done by Postgres.
 */

/** What staging needs from outside; an `ImportContext` has it. */
export type StagingContext = { readonly pool: Pool }

/** How much of the file has been read. */
export type StagingProgress = {
  /** As they are in the file, compressed or not. */
  readonly bytes: number
  /** Null if unknown: stdin. */
  readonly totalBytes: number | null
  readonly rows: number
}

export type Watch = {
  readonly signal: AbortSignal
  onProgress?(progress: StagingProgress): void
}

/** Reads and checks the file at `path` (`-` is stdin), and stores its rows as an import to be confirmed. */
export function stageImport(
  ferry: StagingContext,
  path: string,
  options: ImportOptions,
  watch: Watch,
): Promise<StagingReport> {
  return stage(ferry, path, options, watch, false)
}

/** Does what `stageImport` does, so that every count is real, and stores nothing. */
export function dryRun(
  ferry: StagingContext,
  path: string,
  options: ImportOptions,
  watch: Watch,
): Promise<StagingReport> {
  return stage(ferry, path, options, watch, true)
}

async function stage(
  { pool }: StagingContext,
  path: string,
  options: ImportOptions,
  watch: Watch,
  isDryRun: boolean,
): Promise<StagingReport> {
  const startedAtMs = performance.now()
  const { signal } = watch
  expectOneStdin(path, options)
  const rules = await readRules(options, signal)
  const { id: installationId } = await loadInstallation(pool)
  const hashOf = openRecipientHashBytes(installationId, options.method)

  await using source = await openSource(path, signal)
  const file = await openFile(source, rules.fields, rules.preset)
  const report = await inTransaction(pool, async client => {
    const staging = await beginStaging(client, newImport(source, options, file), isDryRun)
    const { suppress, method } = options
    const suppressions =
      suppress === null ? null : await copySuppressions(client, suppress, method, hashOf, signal)
    const writer = new StagingWriter(client, staging)
    const rows = new RowSink(writer, new RowCheck(rules), hashOf, file, openEnclosedCount(options.method))
    await file.readRows(rows, async () => {
      signal.throwIfAborted()
      const { totalBytes } = source
      watch.onProgress?.({ bytes: source.bytesRead(), totalBytes, rows: rows.tally.read })
      rows.findRepeated()
      await writer.drain()
    })
    const stored = await writer.end()
    await source.expectUnchanged()
    return reportOf({
      ...(await countStaged(client, staging, options, { stored, tally: rows.tally, isDryRun })),
      id: isDryRun ? null : staging.id,
      options,
      suppressions,
      file: { compression: source.compression, ...file.shape() },
      tally: rows.tally,
      durationMs: Math.round(performance.now() - startedAtMs),
    })
  }).catch(async error => {
    throw isDiskFull(error) ? await afterDiskFull(pool, error, isDryRun) : error
  })
  // Not in the transaction: other stagings would wait for it. It only makes the work that follows faster.
  if (!isDryRun) await analyzeRecipients(pool).catch(() => {})
  return report
}

/** Leaves out the suppressed and the duplicates, checks that no row is missing, and ends a staging that is no dry run. */
async function countStaged(
  client: PoolClient,
  staging: Staging,
  options: ImportOptions,
  rows: { readonly stored: number; readonly tally: Readonly<Tally>; readonly isDryRun: boolean },
) {
  const { read, lastLine } = rows.tally
  const suppressed = options.suppress === null ? 0 : await leaveOutSuppressed(client, staging)
  const recipients = rows.stored - suppressed - (await mergeDuplicates(client, staging))
  const reasons = await countReasons(client, staging)
  expectNothingMissing(read, recipients, reasons)
  if (!rows.isDryRun) await finishStaging(client, staging, { read, lastLine, recipients, reasons })
  const alreadyImported = await noteSentBefore(client, staging, options)
  const maybeSent = await loadMaybeSentBefore(client, staging, options, options.onUncertain)
  const samples = await loadSamples(client, staging, alreadyImported)
  return { recipients: recipients - alreadyImported, alreadyImported, maybeSent, reasons, ...samples }
}

function newImport({ name, compression }: FileSource, options: ImportOptions, file: OpenFile): NewImport {
  const { account, pageId, method, onUncertain, update, batchRows, firstRows, ...reading } = options
  const { columns, format, delimiter } = file.shape()
  return {
    account,
    page_id: pageId,
    method,
    file: name,
    columns: columns && [...columns],
    options: { ...reading, file: { compression, format, delimiter } },
    on_uncertain: onUncertain,
    update_existing: update,
    batch_rows: batchRows,
    first_rows: firstRows,
  }
}
