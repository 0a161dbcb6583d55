import type { Pool } from 'pg'
import { rejectRun } from '#src/inventory/approve.ts'
import { counted } from '#src/model/counted.ts'
import { type ActOptions, actedBy } from '../acted-by.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { findRun } from './find.ts'

/** Ends the hold of a run: its rows are kept. */
export async function reject(
  pool: Pool,
  id: bigint,
  options: ActOptions & { json?: true },
): Promise<ExitCode> {
  await findRun(pool, id)
  const kept = await rejectRun({ pool }, id, actedBy(options))
  if (options.json) printJson({ run: id, outcome: 'rejected', kept })
  else {
    print(`The hold of run ${id} is ended: ${counted(kept, 'row')} stay as they were.`)
    print('They are kept until the platform lists them again. If they turn out to be gone after all,')
    print('`ferry sync` with --accept-removals removes them.')
  }
  return EXIT.done
}
