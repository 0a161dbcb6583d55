import type { Pool } from 'pg'
import type { Ferry } from '#src/ferry.ts'
import { approveRun, rejectRun } from '#src/inventory/holds/approve.ts'
import { leftHeld } from '#src/inventory/messages.ts'
import { counted } from '#src/model/counted.ts'
import { expectConfigured } from '../accounts.ts'
import { type ActOptions, actedBy } from '../acted-by.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { exitCodeOf, explainRun, printJsonRun, printRuns } from '../run-result.ts'
import { findRun } from './show.ts'

/** Removes what a held run would have removed and is still gone. */
export async function approve(
  ferry: Ferry,
  id: bigint,
  options: ActOptions & { json?: true },
  signal: AbortSignal,
): Promise<ExitCode> {
  const { run, hold: held } = await findRun(ferry.pool, id)
  if (held) expectConfigured(ferry, run.account, `run ${id}`)
  const result = await approveRun(ferry, id, actedBy(options), signal)
  if (options.json) printJsonRun(result)
  else printRuns([result])
  explainRun(result)
  const code = await exitCodeOf(ferry.pool, result)
  if (code !== EXIT.done) return code
  // With another key or other settings nothing is removed, and the rows stay held.
  const { hold } = await findRun(ferry.pool, id)
  return hold && hold.ids.length > hold.added.length ? EXIT.undecided : code
}

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
    print(`${counted(kept, `row of run ${id} stays as it was`, `rows of run ${id} stay as they were`)}.`)
    print('They are kept until the platform lists them again. If they turn out to be gone after all,')
    print('`ferry sync` with --accept-removals removes them.')
    const { hold } = await findRun(pool, id)
    if (hold) print(leftHeld(hold.ids.length, hold.lastRun))
  }
  return EXIT.done
}
