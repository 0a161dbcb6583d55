import type { Ferry } from '#src/ferry.ts'
import { loadSummary, type Progress } from '#src/imports/progress.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { print, printAside, printJson } from '../output.ts'
import type { OneShot } from '../session.ts'
import { exitCodeOf, explainOutcome, printSummary } from './result.ts'
import { ringForImport } from './ring.ts'
import { openView } from './view.ts'
import { followImport, workHere } from './watch.ts'

type Options = { readonly json?: true }

/** Has a worker do it; on a terminal, watches it, and Ctrl-C then only ends the watching. */
export async function leaveToWorkers(
  ferry: Ferry,
  id: bigint,
  options: Options,
  session: OneShot,
): Promise<ExitCode> {
  const queued = await loadSummary(ferry.pool, id)
  await ringForImport(ferry, id)
  if (process.stdout.isTTY) {
    session.detachAtInterrupt()
    return watchToTheEnd(ferry, id, options, session)
  }
  if (options.json) printJson(queued)
  else print(`Import ${id} is queued: workers do it. \`ferry imports watch ${id}\` shows how it goes on.`)
  return EXIT.done
}

/** For an import of which nobody was to be sent: it is over. */
export async function tellWhatCameOfIt(ferry: Ferry, id: bigint, options: Options): Promise<ExitCode> {
  return endOf({ summary: await loadSummary(ferry.pool, id), pause: null }, options)
}

/** Does it here, with whatever workers there are; Ctrl-C leaves it to them. */
export async function finishHere(
  ferry: Ferry,
  id: bigint,
  options: Options,
  { signal }: OneShot,
): Promise<ExitCode> {
  const progress = await workHere(ferry, id, openView(options), signal)
  if (signal.aborted && isGoingOn(progress)) {
    printAside(
      `ferry: import ${id} is interrupted, nothing is lost. A worker goes on with it, if one is running, or ` +
        `\`ferry imports resume ${id} --wait\` here; \`ferry imports pause ${id}\` stops it.`,
    )
  }
  return endOf(progress, options)
}

/** Shows how an import goes on, from anywhere, and returns what it came to. */
export async function watchToTheEnd(
  ferry: Ferry,
  id: bigint,
  options: Options,
  { signal }: OneShot,
): Promise<ExitCode> {
  const progress = await followImport(ferry, id, openView(options), signal)
  if (isGoingOn(progress)) {
    printAside(`ferry: import ${id} goes on. \`ferry imports watch ${id}\` comes back to it.`)
  }
  return endOf(progress, options)
}

function isGoingOn({ summary: { status } }: Progress): boolean {
  return status === 'queued' || status === 'running'
}

function endOf(outcome: Pick<Progress, 'summary' | 'pause'>, options: Options): ExitCode {
  if (options.json) printJson(outcome.summary)
  else printSummary(outcome.summary)
  explainOutcome(outcome)
  return exitCodeOf(outcome)
}
