import { expect, test, vi } from 'vitest'
import { exitCodeOf, explainOutcome, type Outcome, pauseInWords } from '#src/cli/import/result.ts'
import type { ImportSummary } from '#src/model/import.ts'

const SUMMARY: ImportSummary = {
  import: 7n,
  account: 'default',
  page: 1n,
  status: 'completed',
  read: 10,
  sent: 10,
  pending: 0,
  uncertain: 0,
  rejected: 0,
  duplicate: 0,
  suppressed: 0,
  alreadyImported: 0,
  batches: 1,
  requests: 1,
  durationMs: 1_000,
}
const PAUSE: NonNullable<Outcome['pause']> = {
  code: 'NoAnswer',
  httpStatus: null,
  requestId: null,
  message: 'The call got no answer.',
  whatToDo: null,
  platformMessage: null,
}
const REFUSED = { ...PAUSE, code: 'AccessDenied', httpStatus: 403, requestId: 'req-1' }

const outcome = (summary: Partial<ImportSummary>, pause: Outcome['pause'] = null): Outcome => ({
  summary: { ...SUMMARY, ...summary },
  pause,
})

test.each([
  ['is completed', outcome({}), 0],
  ['is still being sent', outcome({ status: 'running', sent: 4, pending: 6 }), 0],
  ['has rejected rows, but is not at its end', outcome({ status: 'running', sent: 9, rejected: 1 }), 0],
  ['is completed with rejected rows', outcome({ sent: 9, rejected: 1 }), 3],
  ['waits for a decision', outcome({ status: 'undecided', sent: 4, uncertain: 6 }), 5],
  ['was left while it was read', outcome({ status: 'staging', read: 0, sent: 0 }), 5],
  ['is paused', outcome({ status: 'paused', sent: 4, pending: 6 }, PAUSE), 5],
  ['is paused because of a refusal', outcome({ status: 'paused', sent: 4, pending: 6 }, REFUSED), 4],
  ['was cancelled', outcome({ status: 'cancelled', sent: 4, pending: 6 }), 1],
  ['has counts that do not add up', outcome({ sent: 9 }), 1],
  ['has more rows in its counts than were read', outcome({ sent: 12 }), 1],
])('an import that %s', (_, of, code) => {
  expect(exitCodeOf(of)).toBe(code)
})

function told(of: Outcome): string {
  using stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  explainOutcome(of)
  return stderr.mock.calls.map(([text]) => `${text}`).join('')
}

test('nothing is said of an import that is completed', () => {
  expect(told(outcome({}))).toBe('')
})

test('of one that was purged no step is named: nothing is left to write or to decide', () => {
  const purged = (summary: Partial<ImportSummary>) => told({ ...outcome(summary), isPurged: true })
  expect(purged({ sent: 9, rejected: 1 })).toBe('ferry: import 7: 1 row rejected.\n')
  expect(purged({ status: 'cancelled', sent: 4, uncertain: 6 })).toBe(
    'ferry: import 7: cancelled; 0 rows not sent.\n',
  )
})

test.each([
  [outcome({ sent: 9 }), ['the counts do not add up: 1 row missing.']],
  [outcome({ sent: 12 }), ['the counts do not add up: 2 rows too many.']],
  [outcome({ status: 'cancelled', sent: 4, pending: 6 }), ['cancelled; 6 rows not sent.']],
  [outcome({ sent: 9, rejected: 1 }), ['1 row rejected. ', '`ferry imports rejects 7']],
  [
    outcome({ status: 'undecided', sent: 4, uncertain: 6 }),
    ['the outcome of 6 rows is unknown.', '`ferry imports show 7`', '`ferry imports resolve 7'],
  ],
  [
    outcome({ status: 'cancelled', sent: 4, uncertain: 6 }),
    ['the outcome of 6 rows is unknown.', 'cancelled; 0 rows not sent.'],
  ],
])('what is said names the import, the rows and the next step: %#', (of, parts) => {
  const words = told(of)
  for (const part of parts) expect(words).toContain(part)
  for (const line of words.trimEnd().split('\n')) expect(line).toMatch(/^ferry: import 7: /)
})

test('of an import that is sent or cancelled nothing is said of what it lacks', () => {
  expect(told(outcome({ status: 'cancelled', sent: 4, pending: 6 }))).not.toContain('unknown')
  expect(told(outcome({ status: 'running', sent: 9, rejected: 1 }))).toBe('')
})

test('a pause says why, what the platform said if that says more, and the request', () => {
  const words = (pause: Partial<typeof PAUSE>) =>
    pauseInWords({ ...SUMMARY, status: 'paused' }, { ...REFUSED, message: 'Access was denied.', ...pause })
  expect(words({})).toMatch(/^paused \(AccessDenied\)\. Access was denied\. .*request_id req-1$/)
  expect(words({ platformMessage: 'Access was denied. Ask Ada' })).toContain(
    '(AccessDenied). Access was denied. Ask Ada. ',
  )
  expect(words({ platformMessage: 'no right!' })).toContain('Access was denied. no right! ')
  expect(words({ whatToDo: 'Give it the right.' })).toContain('Access was denied. Give it the right. ')
})
