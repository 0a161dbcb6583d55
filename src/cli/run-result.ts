import type { Pool } from 'pg'
import type { RunResult } from '#src/model/run.ts'
import { loadRun } from '#src/store/run-reports.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { counted, duration, harmless, printAside, printJson, printTable } from './output.ts'

const EXIT_OF_STATUS = {
  succeeded: EXIT.done,
  partial: EXIT.partial,
  held: EXIT.undecided,
  failed: EXIT.failed,
  skipped: EXIT.failed,
} as const

const REFUSALS = new Set<string | null>(['Unauthorized', 'BalanceNotEnough', 'AccessDenied'])

/** Codes of Ferry's own for calls without an answer of the platform: a status beside them is a gateway's. */
const UNANSWERED = new Set<string | null>(['NoEnvelope', 'NoAnswer', 'NotSent'])

/** Whether the platform will not have us: trying again is no use before somebody changes the key or its rights. */
export function isRefusal(code: string | null, httpStatus: number | null): boolean {
  if (REFUSALS.has(code)) return true
  return !UNANSWERED.has(code) && (httpStatus === 401 || httpStatus === 402 || httpStatus === 403)
}

/** A run that set rows aside is not quite done, and one the platform refused is worse than failed. */
export async function exitCodeOf(pool: Pool, result: RunResult): Promise<ExitCode> {
  const lastCall = result.errorCode === null ? undefined : (await loadRun(pool, result.run))?.calls.at(-1)
  return gravest([
    EXIT_OF_STATUS[result.status],
    result.quarantined > 0 ? EXIT.partial : EXIT.done,
    isRefusal(lastCall?.error_code ?? result.errorCode, lastCall?.http_status ?? null)
      ? EXIT.refused
      : EXIT.done,
  ])
}

/** One line of JSON; its keys are a promise to scripts. Only a failed run has three more, which say why. */
export function printJsonRun(result: RunResult): void {
  const { run, account, resource, status, seen, added, changed, removed, unchanged, quarantined } = result
  const counts = { seen, added, changed, removed, unchanged, quarantined }
  const { requests, durationMs, errorCode, message, requestId } = result
  const why = status === 'failed' ? { errorCode, message, requestId } : {}
  printJson({ run, account, resource, status, ...counts, requests, durationMs, ...why })
}

export function printRuns(results: readonly RunResult[]): void {
  const head = ['run', 'account', 'inventory', 'status', 'seen', 'added', 'changed', 'removed', 'unchanged']
  const rows = results.map(result => [
    result.run,
    result.account,
    result.resource,
    result.status,
    result.seen,
    result.added,
    result.changed,
    result.removed,
    result.unchanged,
    result.quarantined,
    result.requests,
    duration(result.durationMs),
  ])
  printTable([...head, 'quarantined', 'calls', 'took'], rows, 'Nothing was synced.')
}

/** Says on stderr what a person should know of a run: why it is not simply done, and what to do. */
export function explainRun(result: RunResult): void {
  const { account, resource, run, status, errorCode, requestId, message } = result
  const words = [
    sentence(message ?? ''),
    setAside(result),
    requestId === null ? '' : `request_id ${requestId}`,
  ]
  if (words.every(text => text === '')) return
  const code = errorCode === null || message?.includes(errorCode) ? '' : ` (${errorCode})`
  const said = words.filter(Boolean).join(' ')
  printAside(harmless(`ferry: account ${account}, ${resource}, run ${run}: ${status}${code}. ${said}`))
}

function sentence(text: string): string {
  return text.replace(/(?<=[^.!?])$/, '.')
}

function setAside({ run, quarantined }: RunResult): string {
  if (quarantined === 0) return ''
  return `${counted(quarantined, 'row')} could not be read; \`ferry runs show ${run}\` tells which.`
}
