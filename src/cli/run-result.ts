import type { Pool } from 'pg'
import { counted } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { codeAside } from '#src/model/reason.ts'
import { countsOf, KEY_REFUSALS, RUN_COUNTS, type RunResult } from '#src/model/run.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { harmless, printAside, printJson, printTable } from './output.ts'

const EXIT_OF_STATUS = {
  succeeded: EXIT.done,
  partial: EXIT.partial,
  held: EXIT.undecided,
  failed: EXIT.failed,
  skipped: EXIT.failed,
} as const

/** Ferry's own codes for calls that the platform did not answer: a status beside them is a gateway's. */
const UNANSWERED = new Set<string | null>(['NoEnvelope', 'NoAnswer', 'NotSent'])

/** Whether the platform refuses this key: trying again is useless until the key or its rights change. */
export function isRefusal(code: string | null, httpStatus: number | null): boolean {
  if (KEY_REFUSALS.has(code)) return true
  return !UNANSWERED.has(code) && (httpStatus === 401 || httpStatus === 402 || httpStatus === 403)
}

/** A run with rows that could not be read is partly done. One that the platform refused is worse than failed. */
export async function exitCodeOf(pool: Pool, result: RunResult): Promise<ExitCode> {
  const lastCall = result.errorCode === null ? undefined : await lastCallOf(pool, result.run)
  return gravest([
    EXIT_OF_STATUS[result.status],
    result.quarantined > 0 ? EXIT.partial : EXIT.done,
    isRefusal(lastCall?.errorCode ?? result.errorCode, lastCall?.httpStatus ?? null)
      ? EXIT.refused
      : EXIT.done,
  ])
}

async function lastCallOf(pool: Pool, run: bigint) {
  const { listCalls } = await import('#src/inventory/runs/list-runs.ts')
  return (await listCalls(pool, run)).at(-1)
}

/** Prints one line of JSON. Its keys are a promise to scripts; a failed run has three more, which say why. */
export function printJsonRun(result: RunResult): void {
  const { run, account, resource, status, requests, durationMs, errorCode, message, requestId } = result
  const why = status === 'failed' ? { errorCode, message, requestId } : {}
  printJson({ run, account, resource, status, ...countsOf(result), requests, durationMs, ...why })
}

export function printRuns(results: readonly RunResult[]): void {
  const head = ['run', 'account', 'inventory', 'status', ...RUN_COUNTS, 'calls', 'took']
  const rows = results.map(result => [
    result.run,
    result.account,
    result.resource,
    result.status,
    ...RUN_COUNTS.map(name => result[name]),
    result.requests,
    duration(result.durationMs),
  ])
  printTable(head, rows, 'Nothing was synced.')
}

/** Prints on stderr why a run did not simply succeed, and what to do. */
export function explainRun(result: RunResult): void {
  const { account, resource, run, status, errorCode, requestId, message } = result
  const words = [
    sentence(message ?? ''),
    unreadable(result),
    requestId === null ? '' : `request_id ${requestId}`,
  ]
  if (words.every(text => text === '')) return
  const code = codeAside(errorCode, message)
  const text = words.filter(Boolean).join(' ')
  printAside(harmless(`ferry: account ${account}, ${resource}, run ${run}: ${status}${code}. ${text}`))
}

function sentence(text: string): string {
  return text.replace(/(?<=[^.!?])$/, '.')
}

function unreadable({ run, quarantined }: RunResult): string {
  if (quarantined === 0) return ''
  return `${counted(quarantined, 'row')} could not be read; \`ferry runs show ${run}\` shows which.`
}
