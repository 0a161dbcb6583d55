import type { Pool } from 'pg'
import { pauseImport } from '#src/imports/control/pause.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { type ActOptions, actedBy } from '../acted-by.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { print, printJson } from '../output.ts'

/** Stops an import after the calls in flight. */
export async function pause(
  pool: Pool,
  id: bigint,
  options: ActOptions & { json?: true },
): Promise<ExitCode> {
  await pauseImport(pool, id, actedBy(options))
  if (options.json) printJson(await loadSummary(pool, id))
  else print(`Import ${id}: paused. \`ferry imports resume ${id}\` continues it.`)
  return EXIT.done
}
