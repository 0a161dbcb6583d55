import type { Pool } from 'pg'
import { inTransaction } from '#src/store/database.ts'
import { deleteOldStagings, deleteStaging } from '#src/store/imports/expire.ts'
import {
  analyzeRecipients,
  countReasons,
  finishStaging,
  leaveOutSuppressed,
  loadSamples,
  mergeDuplicates,
  type StagedReason,
} from '#src/store/imports/finish-staging.ts'
import { isDiskFull } from '#src/store/imports/full-disk.ts'
import { loadMaybeSentBefore, noteSentBefore } from '#src/store/imports/sent-before.ts'
import { beginStaging, type NewImport, openStagingWriter } from '#src/store/imports/staging.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { localeKey, openLocaleCheck } from './checks/locale.ts'
import { openRowCheck, type RowRules } from './checks/row.ts'
import { readComponentsMap } from './components-map.ts'
import { afterDiskFull } from './disk-full.ts'
import { fieldsOf } from './file/header.ts'
import { type OpenFile, openFile } from './file/rows.ts'
import { expectFile, openSource } from './file/source.ts'
import type { Compression } from './file/unpack.ts'
import { FileRefused } from './file-refused.ts'
import { type Found, stagedOf } from './found.ts'
import { PRESETS } from './presets/presets.ts'
import { openRecipientHashBytes } from './recipient-hash.ts'
import { openRowSink } from './row-sink.ts'
import type { ImportOptions, Staged, StagingContext, Watch } from './staged.ts'
import { copySuppressions } from './suppressions.ts'

export { FileRefused } from './file-refused.ts'
export type { PresetName } from './presets/presets.ts'
export type { ImportOptions, Staged, StagedFile, StagingContext, StagingProgress, Watch } from './staged.ts'

/*
 * Staging: a file's rows become an import that waits to be confirmed.
 *
 *     source ──► lines ──► records ──► checks ──┬──► import_recipients ──► without the suppressed, duplicates merged
 *     (bytes,    (whole,   (CSV or              ├──► import_rejects
 *      unpacked)  sound?)   NDJSON)             └──► import_left_out
 *
 * What other imports have sent to the page is counted here, for whoever confirms it, and left out when the work begins.
 *
 * All of it in one transaction: a crash, a file that changes while it is read or a signal to stop leaves nothing. Only
 * some blocks of the file are in memory at a time; what needs to see all rows (duplicates, suppressions) is Postgres's.
 */

/** How many rows are shown, of the good and of the rejected. */
const SAMPLES = 5

/** Reads and checks the file at `path` (`-` is stdin) and stores its rows as an import to be confirmed. */
export function stageImport(
  ferry: StagingContext,
  path: string,
  options: ImportOptions,
  watch: Watch,
): Promise<Staged> {
  return stage(ferry, path, options, watch, false)
}

/** Does what `stageImport` does, so that every count is real, and keeps nothing of it. */
export function dryRun(
  ferry: StagingContext,
  path: string,
  options: ImportOptions,
  watch: Watch,
): Promise<Staged> {
  return stage(ferry, path, options, watch, true)
}

/** Throws the `FileRefused` that staging would begin with: no such file, no such field. Reads nothing. */
export async function expectStageable(path: string, options: ImportOptions): Promise<void> {
  const paths = [path, options.components, options.suppress]
  expectOneStdin(paths)
  for (const path of paths) if (path !== null && path !== '-') await expectFile(path)
  fieldsBy(options)
}

/** Removes a staged import that is not to be confirmed, with all its rows. */
export function discardStaging(pool: Pool, id: bigint): Promise<void> {
  return deleteStaging(pool, id)
}

/** Removes what was staged and not confirmed within 24 hours; returns how many imports. */
export function expireStagings(pool: Pool): Promise<number> {
  return deleteOldStagings(pool)
}

async function stage(
  { pool }: StagingContext,
  path: string,
  options: ImportOptions,
  watch: Watch,
  isDryRun: boolean,
): Promise<Staged> {
  const startedAtMs = performance.now()
  const { signal } = watch
  expectOneStdin([path, options.components, options.suppress])
  const rules = await readRules(options, signal)
  const { id: installationId } = await loadInstallation(pool)
  const hashOf = openRecipientHashBytes(installationId, options.method)

  await using source = await openSource(path, signal)
  const file = await openFile(source, rules.fields, rules.preset)
  const staged = await inTransaction(pool, async client => {
    const staging = await beginStaging(client, newImport(path, options, file, source.compression), isDryRun)
    if (options.suppress !== null) {
      await copySuppressions(client, options.suppress, options.method, hashOf, signal)
    }
    const writer = openStagingWriter(client, staging)
    const rows = openRowSink(writer, openRowCheck(rules), hashOf, file)
    await file.readRows(rows, async () => {
      signal.throwIfAborted()
      const { totalBytes } = source
      watch.onProgress?.({ bytes: source.bytesRead(), totalBytes, rows: rows.taken().read })
      rows.findRepeated()
      await writer.drain()
    })
    let recipients = await writer.end()
    await source.expectUnchanged()

    if (options.suppress !== null) recipients -= await leaveOutSuppressed(client, staging)
    recipients -= await mergeDuplicates(client, staging)
    const reasons = await countReasons(client, staging)
    const { read, lastLine, bytesARow, tally } = rows.taken()
    expectNothingMissing(read, recipients, reasons)
    if (!isDryRun) await finishStaging(client, staging, { read, lastLine, recipients, reasons })
    const alreadyImported = await noteSentBefore(client, staging, options)
    const maybeSent = await loadMaybeSentBefore(client, staging, options, options.onUncertain)
    const { samples, rejects } = await loadSamples(client, staging, SAMPLES, alreadyImported)
    const found: Found = {
      id: isDryRun ? null : staging.id,
      options,
      file: { compression: source.compression, ...file.shape() },
      read,
      recipients: recipients - alreadyImported,
      alreadyImported,
      maybeSent,
      bytesARow,
      tally,
      reasons,
      samples,
      rejects,
      durationMs: Math.round(performance.now() - startedAtMs),
    }
    return stagedOf(found)
  }).catch(async error => {
    throw isDiskFull(error) ? await afterDiskFull(pool, error, isDryRun) : error
  })
  // Not in the transaction, where it would make others wait who stage too. It only makes the work that follows faster.
  if (!isDryRun) await analyzeRecipients(pool).catch(() => {})
  return staged
}

function expectOneStdin(paths: readonly (string | null)[]): void {
  if (paths.filter(path => path === '-').length < 2) return
  throw new FileRefused('stdin is one file, and is named twice.', 'Name the other file by its path.')
}

async function readRules(options: ImportOptions, signal: AbortSignal): Promise<RowRules> {
  const { method, lenientAddresses, defaultLocale, mapLocale, all, components, from } = options
  const fields = fieldsBy(options)
  const map = components === null ? null : await readComponentsMap(components, signal)
  const preset = from === null ? null : PRESETS[from]
  const locales = new Map(Object.entries(mapLocale).map(([said, locale]) => [localeKey(said), locale]))
  return { method, lenientAddresses, defaultLocale, locales, all, preset, fields, components: map }
}

function fieldsBy({ defaultLocale, mapLocale, from, map }: ImportOptions): RowRules['fields'] {
  const isLocale = openLocaleCheck()
  const named = Object.entries(mapLocale).map(([said, locale]) => [`--map-locale ${said}=`, locale])
  if (defaultLocale !== null) named.push(['--default-locale ', defaultLocale])
  for (const [option = '', locale = ''] of named) {
    if (isLocale(locale)) continue
    throw new FileRefused(
      `${option}${locale}: ${locale} is not a locale.`,
      'Write a language and a region that exist, such as en-US.',
    )
  }
  return fieldsOf(from === null ? null : PRESETS[from], map)
}

function newImport(
  path: string,
  options: ImportOptions,
  file: OpenFile,
  compression: Compression,
): NewImport {
  const { account, pageId, method, onUncertain, update, batchRows, firstRows, ...reading } = options
  const { columns, format, delimiter } = file.shape()
  return {
    account,
    pageId,
    method,
    file: path === '-' ? 'stdin' : path,
    columns,
    options: { ...reading, file: { compression, format, delimiter } },
    onUncertain,
    update,
    batchRows,
    firstRows,
  }
}

/** Every row read is in exactly one place; where one is missing, nothing of the file is to be trusted. */
function expectNothingMissing(read: number, recipients: number, reasons: readonly StagedReason[]): void {
  const stored = reasons.reduce((sum, { rows }) => sum + rows, recipients)
  if (stored !== read) throw new Error(`${read} rows were read, but ${stored} are accounted for`)
}
