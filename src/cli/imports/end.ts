import type { Pool } from 'pg'
import { cancelImport } from '#src/imports/control/cancel.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { findSummaryRow, loadSummary } from '#src/imports/reporting/summary.ts'
import { counted } from '#src/model/counted.ts'
import { isEnded } from '#src/model/import.ts'
import { type ActOptions, actedBy } from '../acted-by.ts'
import { UsageError } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { ask, canAsk } from '../import/ask.ts'
import { print, printAside, printJson } from '../output.ts'

/*
 * These decisions cannot be undone, so a person is asked first; but not about a decision that would be refused.
 */

type Options = ActOptions & { readonly yes?: true; readonly json?: true }

/** Ends an import for good. */
export async function cancel(
  pool: Pool,
  id: bigint,
  options: Options,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { status, pending, uncertain } = await loadSummary(pool, id)
  const unsure = uncertain === 0 ? '' : ` The outcome of ${counted(uncertain, 'row')} stays unknown.`
  const question = `Cancel import ${id}? It has ${counted(pending, 'row')} left to send, and cannot be resumed.${unsure}`
  if (!isEnded(status) && !(await isSure(question, options, signal))) return EXIT.failed
  await cancelImport(pool, id, actedBy(options))
  if (options.json) printJson(await loadSummary(pool, id))
  else print(`Import ${id}: cancelled.`)
  return EXIT.done
}

/** Removes the recipients of an import that has ended. */
export async function purge(
  pool: Pool,
  id: bigint,
  options: Options,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { status, purged_at, rejected } = await findSummaryRow(pool, id)
  const unwritable = rejected === 0 ? '' : `, and so are the rejected rows (${counted(rejected, 'row')})`
  const question = `Remove the recipients of import ${id}? Their addresses are removed for good${unwritable}.`
  const asks = isEnded(status) && purged_at === null
  if (asks && !(await isSure(question, options, signal))) return EXIT.failed
  const rows = await purgeImport(pool, id, actedBy(options))
  if (options.json) printJson({ import: id, purgedRows: rows })
  else print(`Import ${id}: recipients removed from ${counted(rows, 'row')}.`)
  return EXIT.done
}

async function isSure(question: string, { yes }: Options, signal: AbortSignal): Promise<boolean> {
  if (yes) return true
  if (!canAsk()) {
    throw new UsageError(
      'nothing was changed, because this cannot be undone and there is no terminal to ask on: add --yes if you are sure',
    )
  }
  if (await ask(question, signal)) return true
  printAside('ferry: nothing was changed')
  return false
}
