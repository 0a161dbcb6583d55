import { expect, test } from 'vitest'
import {
  ACTIVE_STATUSES,
  ENDED_STATUSES,
  IMPORT_STATUSES,
  isActive,
  isEnded,
  toBeSent,
} from '#src/model/import.ts'
import { guardedMs } from '#src/model/limit.ts'
import { NOUNS, PLURALS } from '#src/model/resource.ts'
import {
  APPLIED_STATUSES,
  COMPLETE_STATUSES,
  countsOf,
  KEY_REFUSALS,
  outcomeOf,
  RUN_STATUSES,
} from '#src/model/run.ts'

test('each status of a run says whether it was applied, and whether its listing was complete', () => {
  const natureOf = RUN_STATUSES.map(status => {
    const isApplied = APPLIED_STATUSES.some(one => one === status)
    const isComplete = COMPLETE_STATUSES.some(one => one === status)
    return `${status}: ${isApplied ? 'applied' : 'not applied'}, ${isComplete ? 'complete' : 'not complete'}`
  })
  expect(natureOf).toEqual([
    'running: not applied, not complete',
    'succeeded: applied, complete',
    'partial: applied, not complete',
    'held: applied, complete',
    'failed: not applied, not complete',
    'skipped: not applied, not complete',
  ])
})

test('each status of an import says whether it is sent, and whether it has ended', () => {
  const natureOf = IMPORT_STATUSES.map(status => [status, isActive(status), isEnded(status)])
  expect(natureOf).toEqual(
    IMPORT_STATUSES.map(status => [
      status,
      ['queued', 'running'].includes(status),
      ['completed', 'cancelled'].includes(status),
    ]),
  )
  expect([ACTIVE_STATUSES, ENDED_STATUSES]).toEqual([
    ['queued', 'running'],
    ['completed', 'cancelled'],
  ])
})

test('the outcome of a run has its counts and its end, and nothing else of it', () => {
  const counts = { seen: 6, added: 1, changed: 2, removed: 3, unchanged: 4, quarantined: 5 }
  const end = {
    status: 'failed',
    requests: 7,
    errorCode: 'NoAnswer',
    requestId: 'r-1',
    message: 'why',
  } as const
  const run = { ...counts, ...end, run: 8n, durationMs: 9 }
  expect(countsOf(run)).toEqual(counts)
  expect(outcomeOf(run)).toEqual({ ...counts, ...end })
})

test('the rows that are to be sent are those sent, those whose outcome is unknown and those that wait', () => {
  const others = { read: 100, rejected: 7, duplicate: 11, suppressed: 13, alreadyImported: 17 }
  expect(toBeSent({ ...others, sent: 1, uncertain: 20, pending: 300 })).toBe(321)
})

test('a key is refused by three codes, until somebody changes something', () => {
  expect([...KEY_REFUSALS]).toEqual(['Unauthorized', 'BalanceNotEnough', 'AccessDenied'])
})

test('inventories have a word for one row and for several', () => {
  expect([NOUNS, PLURALS]).toEqual([
    { 'alert-rules': 'alert rule', 'mcp-servers': 'MCP server' },
    { 'alert-rules': 'alert rules', 'mcp-servers': 'MCP servers' },
  ])
})

test('a time of the platform is a hundredth longer by the clock of the database, in whole milliseconds', () => {
  expect([0, 1, 1_000, 60_000].map(guardedMs)).toEqual([0, 2, 1_010, 60_600])
})
