import type { Ferry } from '#src/ferry.ts'
import { approveRun } from '#src/inventory/approve.ts'
import { type ActOptions, actedBy } from '../acted-by.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodeOf, explainRun, printJsonRun, printRuns } from '../run-result.ts'
import { findRun } from './find.ts'

/** Removes what a held run would have removed, as far as it is still gone. */
export async function approve(
  ferry: Ferry,
  id: bigint,
  options: ActOptions & { json?: true },
  signal: AbortSignal,
): Promise<ExitCode> {
  await findRun(ferry.pool, id)
  const result = await approveRun(ferry, id, actedBy(options), signal)
  if (options.json) printJsonRun(result)
  else printRuns([result])
  explainRun(result)
  return exitCodeOf(ferry.pool, result)
}
