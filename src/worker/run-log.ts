import type { Logger } from 'pino'
import type { RunResult } from '#src/model/run.ts'

/** The same failure again within this time is counted, not logged. */
const SAME_FAILURE_MS = 60_000

/**
 * Logs how runs end, one line a run: failed ones as errors (one that was cut off at `info`), partial and held ones as warnings, the others at `info`, or at
 * `debug` if nothing changed. A run that ends as the one before it is counted until a minute has passed.
 */
export function createRunReport(
  log: Logger,
  now: () => number = () => performance.now(),
): (run: RunResult) => void {
  const last = new Map<
    string,
    { readonly what: string; readonly loggedAtMs: number; readonly unlogged: number }
  >()

  return run => {
    const inventory = `${run.account}/${run.resource}`
    const line = describe(run)
    const before = last.get(inventory)
    if (line.level === 'info' || line.level === 'debug') {
      // A poll that is skipped because another run is under way says nothing about the failure before it.
      if (run.status !== 'skipped') last.delete(inventory)
      const isBack = before !== undefined && run.status === 'succeeded'
      log[isBack ? 'info' : line.level](line.details, line.text)
      return
    }
    const what = `${run.status} ${run.errorCode} ${withoutRun(run.message)}`
    if (before?.what === what && now() - before.loggedAtMs < SAME_FAILURE_MS) {
      last.set(inventory, { ...before, unlogged: before.unlogged + 1 })
      log.debug(line.details, line.text)
      return
    }
    const again = before?.what === what && before.unlogged > 0 ? { timesSince: before.unlogged + 1 } : {}
    last.set(inventory, { what, loggedAtMs: now(), unlogged: 0 })
    log[line.level]({ ...line.details, ...again }, line.text)
  }
}

/** The message of a held run names the run in the commands it suggests, so it would differ at every poll. */
function withoutRun(message: string | null): string {
  return (message ?? '').replace(/\b(runs (?:show|approve|reject)) \d+/g, '$1')
}

type Line = {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
  readonly details: Readonly<Record<string, unknown>>
}

function describe(run: RunResult): Line {
  const { added, changed, removed, seen, quarantined, errorCode, requestId, message } = run
  const details = {
    run: String(run.run),
    account: run.account,
    resource: run.resource,
    status: run.status,
    seen,
    added,
    changed,
    removed,
    ...(quarantined > 0 && { quarantined }),
    ...(errorCode !== null && { errorCode }),
    ...(requestId !== null && { requestId }),
  }
  const more = message === null ? '' : ` ${message}`
  switch (run.status) {
    case 'failed':
      // The person who interrupted it knows, and another worker continues.
      if (errorCode === 'Interrupted') {
        return { level: 'info', text: `A sync was cut off; nothing was applied.${more}`, details }
      }
      return { level: 'error', text: `A sync failed; nothing was applied.${more}`, details }
    case 'held':
      return {
        level: 'warn',
        text: `Removals wait for a decision: \`ferry runs show ${run.run}\`.${more}`,
        details,
      }
    case 'partial':
      return { level: 'warn', text: `A sync is partial; nothing was removed.${more}`, details }
    case 'skipped':
      return { level: 'debug', text: `A sync was skipped.${more}`, details }
    case 'succeeded': {
      const isNews = added + changed + removed > 0
      return { level: isNews ? 'info' : 'debug', text: `A sync succeeded.${more}`, details }
    }
  }
}
