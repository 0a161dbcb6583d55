import type { Pool } from 'pg'
import { pauseImport } from '#src/imports/control.ts'
import { loadSummary } from '#src/imports/progress.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { print, printJson } from '../output.ts'

/** Stops an import after the calls in flight. */
export async function pause(pool: Pool, id: bigint, options: { json?: true }): Promise<ExitCode> {
  await pauseImport(pool, id)
  if (options.json) printJson(await loadSummary(pool, id))
  else print(`Import ${id}: paused; \`ferry imports resume ${id}\` goes on.`)
  return EXIT.done
}
