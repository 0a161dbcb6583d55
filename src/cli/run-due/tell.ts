import type { Pool } from 'pg'
import type { JobStatus, RunResult } from '#src/model/run.ts'
import { countsOf } from '#src/model/run.ts'
import type { ScheduleKey } from '#src/schedules/definition.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { exitCodeOf as exitCodeOfImport, explainOutcome } from '../import/result.ts'
import { harmless, instant, print, printJson } from '../output.ts'
import { exitCodeOf, explainRun } from '../run-result.ts'

type Options = { readonly json?: true }

/** Prints a run as one line. Returns its exit code; one that was skipped is done by another process. */
export async function tellRun(pool: Pool, run: RunResult, { json }: Options): Promise<ExitCode> {
  const { account, resource, status, requests, durationMs } = run
  if (json) {
    const { errorCode, message, requestId } = run
    const why = status === 'failed' ? { errorCode, message, requestId } : {}
    const counts = { ...countsOf(run), requests, durationMs, ...why }
    printJson({ done: 'run', run: run.run, account, resource, status, ...counts })
  } else {
    const counts = `${run.seen} listed, ${run.added} added, ${run.changed} changed, ${run.removed} removed`
    print(harmless(`run ${run.run}, ${resource} of account ${account}: ${status}, ${counts}`))
    explainRun(run)
  }
  return status === 'skipped' ? EXIT.done : exitCodeOf(pool, run)
}

/** Prints that a schedule was done. */
export function tellSlot(
  { schedule, account, slot }: ScheduleKey & { readonly slot: Date },
  outcome: JobStatus,
  { json }: Options,
): void {
  if (json) printJson({ done: 'schedule', schedule, account, slot, outcome })
  else
    print(
      harmless(
        `${schedule} of ${account === '*' ? 'all accounts' : `account ${account}`}, due ${instant(slot)}: ${outcome}`,
      ),
    )
}

/** Prints where an import is now. Returns its exit code. */
export async function tellImport(pool: Pool, id: bigint, { json }: Options): Promise<ExitCode> {
  const { findSummaryRow, loadPauseWithWords, summaryOf } = await import('#src/imports/reporting/summary.ts')
  const row = await findSummaryRow(pool, id)
  const summary = summaryOf(row)
  const outcome = { summary, pause: await loadPauseWithWords(pool, row) }
  if (json) printJson({ done: 'import', ...summary })
  else {
    const { account, status, sent, rejected, pending } = summary
    print(
      harmless(
        `import ${id} of account ${account}: ${status}, ${sent} sent, ${rejected} rejected, ${pending} to go`,
      ),
    )
    explainOutcome(outcome)
  }
  return exitCodeOfImport(outcome)
}
