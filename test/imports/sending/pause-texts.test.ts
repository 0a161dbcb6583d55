import { expect, test } from 'vitest'
import type { Pause } from '#src/imports/move-import.ts'
import type { PauseCause } from '#src/imports/sending/decision.ts'
import {
  databaseChanged,
  firstRowsSent,
  PAUSED_BY_PERSON,
  pauseOf,
  uncertainElsewhere,
  WORKER_LOST,
} from '#src/imports/sending/pause.ts'

/* All that is said of a pause, for every cause. */

const LAST = {
  httpStatus: 400,
  errorCode: 'BadRequest',
  requestId: 'r-1',
  message: 'The words of the platform, which may name somebody.',
  whatToDo: 'Do this.',
}
const ANSWER = 'The platform answered BadRequest (HTTP 400).'
const CHECK = 'Check --page, the method and the values that the message names.'
const WRONG = 'If the page is wrong, cancel the import and import the file again with the right page.'
const MANY = `The platform refused many calls in a row, so the fault may not be in a row of the file. The last answer: ${ANSWER}`

const PLATFORM = [ANSWER, 'Do this.'] as const
const PAGE = [
  ANSWER,
  `Check --page. No row was rejected because of this. ${WRONG} If the page was missing, resume once it is there.`,
] as const
const FAILURES = [`10 calls in a row failed. The last answer: ${ANSWER}`, 'Do this.'] as const
const SUSPECTS = [
  'Only rows are left that the platform refused, each of them sent alone. As no call after that was accepted, the fault may ' +
    `not be in these rows. The last answer: ${ANSWER}`,
  `${CHECK} No row was rejected because of this. ${WRONG} Else resume: rows that are refused again with the same code are rejected.`,
] as const

test.each<[PauseCause, number, readonly [message: string, whatToDo: string]]>([
  ['platform', 0, PLATFORM],
  ['page', 0, PAGE],
  ['failures', 0, FAILURES],
  ['unaccepted', 0, [MANY, `${CHECK} No row was rejected because of this. ${WRONG} Else resume.`]],
  [
    'unaccepted',
    1,
    [MANY, `${CHECK} Check whether the row rejected so far is really wrong. ${WRONG} Else resume.`],
  ],
  [
    'unaccepted',
    2,
    [MANY, `${CHECK} Check whether the 2 rows rejected so far are really wrong. ${WRONG} Else resume.`],
  ],
  ['suspects', 0, SUSPECTS],
])(
  'an answer that pauses an import is told with what to do: %s, after %i rejects',
  (cause, rejected, said) => {
    const [message, whatToDo] = said
    const pause = pauseOf(cause, LAST, rejected)
    expect(pause).toEqual({ code: 'BadRequest', requestId: 'r-1', message, whatToDo })
  },
)

test('a pause for too many rejects is about no single answer', () => {
  expect(pauseOf('rejects', LAST, 20)).toEqual({
    code: 'TooManyRejects',
    requestId: null,
    message: 'The platform rejected more than 1 % of the rows.',
    whatToDo:
      'Look at the rejects. Then resume to continue without those rows, or cancel and correct the file.',
  })
})

test('a code that is none of the contract is not said to be the answer of the platform', () => {
  const message = 'The call ended with NoEnvelope (HTTP 400).'
  expect(pauseOf('platform', { ...LAST, errorCode: 'NoEnvelope' }, 0)).toMatchObject({ message })
})

test('a call without an answer is told in words of Ferry, and an unknown refusal has a code too', () => {
  expect(pauseOf('failures', WORKER_LOST, 0)).toEqual({
    code: 'WorkerLost',
    requestId: null,
    message:
      '10 calls in a row failed. The last answer: Its worker was lost before the outcome was recorded.',
    whatToDo: '',
  })
  expect(pauseOf('platform', null, 0)).toEqual({
    code: 'Refused',
    requestId: null,
    message: '',
    whatToDo: '',
  })
})

const FIRST = { code: 'FirstRowsSent', requestId: null }
const CHECK_PAGE = 'Check the status page; then resume the import, or cancel it.'
const CHECK_BOTH = 'Check the status page and the rejects; then resume the import, or cancel it.'
const RECORD =
  'Check the status page, record the outcome with `ferry imports resolve 7 --as sent` (or `--as resend`); then resume the ' +
  'import, or cancel it.'

test.each<[first: number, held: number, rejected: number, message: string, whatToDo: string]>([
  [1, 0, 0, 'The first row has been sent.', CHECK_PAGE],
  [5_000, 0, 0, 'The first 5,000 rows have been sent.', CHECK_PAGE],
  [1, 1, 0, 'The first row has been tried; the outcome of 1 of them is unknown.', RECORD],
  [5, 2, 1, 'The first 5 rows have been tried; the outcome of 2 of them is unknown.', RECORD],
  [5, 0, 1, 'Of the first 5 rows, 4 were sent and 1 was rejected by the platform.', CHECK_BOTH],
  [3, 0, 2, 'Of the first 3 rows, 1 was sent and 2 were rejected by the platform.', CHECK_BOTH],
])(
  'of %i rows to be sent first, with %i held and %i rejected, all is said',
  (firstRows, heldRows, rejected, message, whatToDo) => {
    expect(firstRowsSent(7n, { firstRows, heldRows, rejected })).toEqual({ ...FIRST, message, whatToDo })
  },
)

test('rows that another import may have sent are told with the command that decides about them', () => {
  const whatToDo =
    'Check whether they arrived, record it with `ferry imports resolve 7 --as sent` (or `--as resend`), then resume.'
  const pause = (rows: string): Pause => ({
    code: 'UncertainElsewhere',
    requestId: null,
    message: `Import 7 may have sent ${rows} of it; the outcome is unknown.`,
    whatToDo,
  })
  expect(uncertainElsewhere(7n, 1)).toEqual(pause('1 row'))
  expect(uncertainElsewhere(7n, 2_000)).toEqual(pause('2,000 rows'))
})

test('a database that is another one is told with the time from which rows may be missing, if it is known', () => {
  const noticedAt = new Date('2026-03-01T12:00:00Z')
  const missingSince = new Date('2026-03-01T11:00:00Z')
  const whatToDo =
    'Find out on the platform, or in the lost database, who was sent. If they may be sent again, resume the import: it ' +
    'continues from what this database knows. Else cancel it, and import those who are left.'
  const pause = { code: 'DatabaseChanged', requestId: null, whatToDo }
  expect(databaseChanged({ noticedAt, missingSince, cause: 'copy' })).toEqual({
    ...pause,
    message:
      'This is not the database that Ferry knew: it is a copy of the database, as from a dump. Rows that were written since ' +
      '2026-03-01T11:00:00.000Z may be missing. People who were sent since 2026-03-01T11:00:00.000Z would be sent again.',
  })
  expect(databaseChanged({ noticedAt, missingSince: null, cause: 'server' })).toEqual({
    ...pause,
    message:
      'This is not the database that Ferry knew: it is on another server than before. Rows that were written may be missing. ' +
      'People who were sent would be sent again.',
  })
})

test('a pause by a person has no code, and nothing that only the person knows', () => {
  expect(PAUSED_BY_PERSON).toEqual({
    code: null,
    requestId: null,
    message: 'A person paused it.',
    whatToDo: null,
  })
})
