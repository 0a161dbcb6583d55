import type { Ferry } from '#src/ferry.ts'
import { resumeImport } from '#src/imports/control.ts'
import { loadSummary } from '#src/imports/progress.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { finishHere } from '../import/confirmed.ts'
import { ringForImport } from '../import/ring.ts'
import { expectAccount } from '../import/watch.ts'
import { print, printJson } from '../output.ts'
import type { OneShot } from '../session.ts'

/** Goes on with a paused import. To work on it here it need not be paused: its worker may have been stopped. */
export async function resume(
  ferry: Ferry,
  id: bigint,
  options: { wait?: true; json?: true },
  session: OneShot,
): Promise<ExitCode> {
  const summary = await loadSummary(ferry.pool, id)
  if (options.wait) expectAccount(ferry, summary)
  const { status } = summary
  const goesOn = status === 'queued' || status === 'running'
  if (!(options.wait && goesOn)) await resumeImport(ferry.pool, id)
  if (options.wait) return finishHere(ferry, id, options, session)
  await ringForImport(ferry, id)
  if (options.json) printJson(await loadSummary(ferry.pool, id))
  else print(`Import ${id} is queued again. \`ferry imports watch ${id}\` shows how it goes on.`)
  return EXIT.done
}
