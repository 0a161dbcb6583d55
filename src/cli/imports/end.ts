import type { Pool } from 'pg'
import { cancelImport, purgeImport } from '#src/imports/control.ts'
import { findRow, loadSummary } from '#src/imports/progress.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { UsageError } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { ask, canAsk } from '../import/ask.ts'
import { counted, print, printAside, printJson } from '../output.ts'

/*
 * What cannot be taken back is asked first. What is refused anyway is refused at once: nobody is asked for nothing.
 */

type Options = { readonly yes?: true; readonly json?: true }

const OVER: readonly ImportStatus[] = ['completed', 'cancelled']

/** Ends an import for good. */
export async function cancel(
  pool: Pool,
  id: bigint,
  options: Options,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { status, pending, uncertain } = await loadSummary(pool, id)
  const unsure = uncertain === 0 ? '' : ` Whether ${counted(uncertain, 'row')} arrived stays unknown.`
  const question = `Cancel import ${id}? It has ${counted(pending, 'row')} left to send, and cannot be resumed.${unsure}`
  if (!OVER.includes(status) && !(await isSure(question, options, signal))) return EXIT.failed
  await cancelImport(pool, id)
  if (options.json) printJson(await loadSummary(pool, id))
  else print(`Import ${id}: cancelled.`)
  return EXIT.done
}

/** Removes the recipients of an import that is over. */
export async function purge(
  pool: Pool,
  id: bigint,
  options: Options,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { status, purged_at, rejected } = await findRow(pool, id)
  const unwritable = rejected === 0 ? '' : `, and what was rejected (${counted(rejected, 'row')}) with them`
  const question = `Remove the recipients of import ${id}? Their addresses are gone for good${unwritable}.`
  const asks = OVER.includes(status) && purged_at === null
  if (asks && !(await isSure(question, options, signal))) return EXIT.failed
  const rows = await purgeImport(pool, id)
  if (options.json) printJson({ import: id, purgedRows: rows })
  else print(`Import ${id}: recipients removed from ${counted(rows, 'row')}.`)
  return EXIT.done
}

async function isSure(question: string, { yes }: Options, signal: AbortSignal): Promise<boolean> {
  if (yes) return true
  if (!canAsk()) {
    throw new UsageError(
      'nothing was changed, for there is no terminal to ask at, and it cannot be taken back: add --yes if you are sure',
    )
  }
  if (await ask(question, signal)) return true
  printAside('ferry: nothing was changed')
  return false
}
