import type { Ferry } from '#src/ferry.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { isActive } from '#src/model/import.ts'
import type { OneShotContext } from '../command-context.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { print, printAside, printJson } from '../output.ts'
import { wakeWorkersFor } from '../queue.ts'
import { exitCodeOf, explainOutcome, type Outcome, printSummary } from './result.ts'
import { openView } from './view.ts'
import { followImport, workHere } from './watch.ts'

type Options = { readonly json?: true }

/** Leaves an import to the workers. On a terminal it watches them; Ctrl-C ends only the watching. */
export async function leaveToWorkers(
  ferry: Ferry,
  id: bigint,
  options: Options,
  context: OneShotContext,
): Promise<ExitCode> {
  const queued = await loadSummary(ferry.pool, id)
  await wakeWorkersFor(ferry, id)
  if (process.stdout.isTTY) {
    context.detachAtInterrupt()
    return watchToTheEnd(ferry, id, options, context)
  }
  if (options.json) printJson(queued)
  else print(`Import ${id} is queued for the workers. \`ferry imports watch ${id}\` shows its progress.`)
  return EXIT.done
}

/** Prints the result of an import that had no recipients to send: it has ended. */
export async function printResult(ferry: Ferry, id: bigint, options: Options): Promise<ExitCode> {
  return endOf({ summary: await loadSummary(ferry.pool, id), pause: null }, options)
}

/** Processes an import in this process, beside any workers. Ctrl-C leaves it to the workers. */
export async function finishHere(
  ferry: Ferry,
  id: bigint,
  options: Options,
  { signal }: OneShotContext,
): Promise<ExitCode> {
  const progress = await workHere(ferry, id, openView(options), signal)
  if (signal.aborted && isActive(progress.summary.status)) {
    printAside(
      `ferry: import ${id} is interrupted; nothing is lost. A running worker continues it, or ` +
        `\`ferry imports resume ${id} --wait\` does here. \`ferry imports pause ${id}\` stops it.`,
    )
  }
  return endOf(progress, options)
}

/**
 * Shows the progress of an import until it is not active any more, wherever it is processed, or nobody reads it any more. Returns
 * the exit code.
 */
export async function watchToTheEnd(
  ferry: Ferry,
  id: bigint,
  options: Options,
  { signal }: OneShotContext,
): Promise<ExitCode> {
  const unread = new AbortController()
  process.stdout.once('close', () => unread.abort())
  const progress = await followImport(ferry, id, openView(options), AbortSignal.any([signal, unread.signal]))
  if (unread.signal.aborted) return EXIT.done
  if (isActive(progress.summary.status)) {
    printAside(`ferry: import ${id} continues. \`ferry imports watch ${id}\` shows its progress again.`)
  }
  return endOf(progress, options)
}

function endOf(outcome: Outcome, options: Options): ExitCode {
  if (options.json) printJson(outcome.summary)
  else printSummary(outcome.summary)
  explainOutcome(outcome)
  return exitCodeOf(outcome)
}
