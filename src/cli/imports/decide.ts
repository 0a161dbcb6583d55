import type { Pool } from 'pg'
import type { Ferry } from '#src/ferry.ts'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { findSummaryRow, loadSummary } from '#src/imports/reporting/summary.ts'
import { counted } from '#src/model/counted.ts'
import { type ImportStatus, isActive } from '#src/model/import.ts'
import { isAllowed } from '#src/model/import-moves.ts'
import { expectConfigured } from '../accounts.ts'
import { type ActOptions, actedBy } from '../acted-by.ts'
import type { OneShotContext } from '../command-context.ts'
import { UsageError } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { ask, canAsk } from '../import/ask.ts'
import { finishHere } from '../import/confirmed.ts'
import { print, printAside, printJson } from '../output.ts'
import { wakeWorkersFor } from '../queue.ts'

/** Stops an import after the calls in flight. */
export async function pause(
  pool: Pool,
  id: bigint,
  options: ActOptions & { json?: true },
): Promise<ExitCode> {
  await pauseImport(pool, id, actedBy(options))
  return decided(pool, id, options, `Import ${id}: paused. \`ferry imports resume ${id}\` continues it.`)
}

/** Continues a paused import. With `--wait` it need not be paused: its worker may have been stopped. */
export async function resume(
  ferry: Ferry,
  id: bigint,
  options: ActOptions & { wait?: true; json?: true },
  context: OneShotContext,
): Promise<ExitCode> {
  const summary = await loadSummary(ferry.pool, id)
  if (options.wait) expectConfigured(ferry, summary.account, `import ${id}`)
  const { status } = summary
  if (!(options.wait && isActive(status))) await resumeImport(ferry.pool, id, actedBy(options))
  if (options.wait) return finishHere(ferry, id, options, context)
  await wakeWorkersFor(ferry, id)
  const line = `Import ${id} is queued again. \`ferry imports watch ${id}\` shows its progress.`
  return decided(ferry.pool, id, options, line)
}

type Options = ActOptions & { readonly yes?: true; readonly json?: true }

/** Ends an import for good. */
export async function cancel(
  pool: Pool,
  id: bigint,
  options: Options,
  signal: AbortSignal,
): Promise<ExitCode> {
  const found = await findSummaryRow(pool, id)
  const { pending, uncertain } = found
  const unsure = uncertain === 0 ? '' : ` The outcome of ${counted(uncertain, 'row')} stays unknown.`
  const question = `Cancel import ${id}? It has ${counted(pending, 'row')} left to send, and cannot be resumed.${unsure}`
  if (isAllowed('cancel', found) && !(await isSure(question, options, signal))) return EXIT.failed
  await cancelImport(pool, id, actedBy(options))
  return decided(pool, id, options, `Import ${id}: cancelled.`)
}

/** Removes the recipients of an import that has ended. */
export async function purge(
  pool: Pool,
  id: bigint,
  options: Options,
  signal: AbortSignal,
): Promise<ExitCode> {
  const found = await findSummaryRow(pool, id)
  const { purgedAt, rejected } = found
  const unwritable = rejected === 0 ? '' : `, and so are the rejected rows (${counted(rejected, 'row')})`
  const question = `Remove the recipients of import ${id}? Their addresses are removed for good${unwritable}.`
  const asks = isAllowed('purge', found) && purgedAt === null
  if (asks && !(await isSure(question, options, signal))) return EXIT.failed
  const rows = await purgeImport(pool, id, actedBy(options))
  if (options.json) printJson({ import: id, purgedRows: rows })
  else print(`Import ${id}: recipients removed from ${counted(rows, 'row')}.`)
  return EXIT.done
}

/** Asks a person to confirm a decision that cannot be undone. */
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

export type ResolveOptions = {
  as: 'sent' | 'resend'
  by?: string
  because?: string
  batch?: bigint
  json?: true
}

/** Records what a person found out, and wakes a worker if there are rows to send. */
export async function resolve(ferry: Ferry, id: bigint, options: ResolveOptions): Promise<ExitCode> {
  const { by, because } = options
  const who = actedBy({ ...(by !== undefined && { as: by }), ...(because !== undefined && { because }) })
  const { batches, rows, status } = await resolveUncertain(ferry.pool, id, options.as, who, {
    batchId: options.batch ?? null,
  })
  if (status === 'queued') await wakeWorkersFor(ferry, id)
  const outcome = options.as === 'sent' ? 'counted as sent' : 'to be sent again'
  const what = `${counted(batches, 'batch', 'batches')} with ${counted(rows, 'row')} ${outcome}`
  const line = `Import ${id}: ${what}. It is ${status}${options.as === 'resend' ? howSent(status) : '.'}`
  return decided(ferry.pool, id, options, line)
}

function howSent(status: ImportStatus): string {
  if (status === 'cancelled') return ': importing the file again sends them.'
  return status === 'paused' ? ': resuming it sends them.' : '.'
}

async function decided(pool: Pool, id: bigint, { json }: { json?: true }, line: string): Promise<ExitCode> {
  if (json) printJson(await loadSummary(pool, id))
  else print(line)
  return EXIT.done
}
