import type { Ferry } from '#src/ferry.ts'
import { resumeImport } from '#src/imports/control/resume.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { isActive } from '#src/model/import.ts'
import { type ActOptions, actedBy } from '../acted-by.ts'
import type { OneShotContext } from '../command-context.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { finishHere } from '../import/confirmed.ts'
import { wakeWorkersFor } from '../import/wake-workers.ts'
import { expectAccount } from '../import/watch.ts'
import { print, printJson } from '../output.ts'

/** Continues a paused import. With `--wait` it need not be paused: its worker may have been stopped. */
export async function resume(
  ferry: Ferry,
  id: bigint,
  options: ActOptions & { wait?: true; json?: true },
  context: OneShotContext,
): Promise<ExitCode> {
  const summary = await loadSummary(ferry.pool, id)
  if (options.wait) expectAccount(ferry, summary)
  const { status } = summary
  if (!(options.wait && isActive(status))) await resumeImport(ferry.pool, id, actedBy(options))
  if (options.wait) return finishHere(ferry, id, options, context)
  await wakeWorkersFor(ferry, id)
  if (options.json) printJson(await loadSummary(ferry.pool, id))
  else print(`Import ${id} is queued again. \`ferry imports watch ${id}\` shows its progress.`)
  return EXIT.done
}
