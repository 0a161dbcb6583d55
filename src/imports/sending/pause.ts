import type { Pause } from '#src/imports/move-import.ts'
import { DATABASE_CHANGED, FIRST_ROWS_SENT, TOO_MANY_REJECTS } from '#src/imports/states.ts'
import { counted, isOrAre } from '#src/model/counted.ts'
import { changeInWords, type DatabaseChange } from '#src/model/database-change.ts'
import { WORKER_LOST_CODE } from '#src/model/run.ts'
import { isCodeOfContract } from '#src/platform/refusal-kinds.ts'
import { MAX_FAILURES, MAX_REJECTED_SHARE } from './decide.ts'
import type { PauseCause } from './decision.ts'

/*
 * The sentences that say why an import is paused, why a batch has no answer of the platform, or why a row is rejected. None
 * holds a recipient.
 */

/** The platform's answer to a call. */
export type ResponseDetails = {
  readonly httpStatus: number | null
  readonly errorCode: string | null
  readonly requestId: string | null
  /** Without the recipients that were found in it. It may still name one: `answerInWords` is for all readers. */
  readonly message: string | null
}

/** The refusal that led to a pause. */
export type LastRefusal = ResponseDetails & { readonly whatToDo?: string }

export const PAUSED_BY_PERSON: Pause = {
  code: null,
  requestId: null,
  message: 'A person paused it.',
  whatToDo: null,
}

/** Replaces the answer to a batch whose claim expired. */
export const WORKER_LOST: ResponseDetails = {
  httpStatus: null,
  errorCode: WORKER_LOST_CODE,
  requestId: null,
  message: 'Its worker was lost before the outcome was recorded.',
}

/** The reason of every row that the platform rejected. Its message is the platform's. */
export const REJECTED_BY_PLATFORM = 'refused by the platform'

/**
 * An answer of the platform for everybody: its code only. Its own words may name somebody in a spelling that no program
 * knows; `ferry imports show` prints them.
 */
function answerInWords({ httpStatus, errorCode, message }: ResponseDetails): string {
  if (httpStatus === null) return message ?? ''
  const ended =
    errorCode !== null && isCodeOfContract(errorCode) ? 'The platform answered' : 'The call ended with'
  return `${ended} ${errorCode} (HTTP ${httpStatus}).`
}

/** The pause that follows from an answer; `rejected` of the import's rows the platform has rejected so far. */
export function pauseOf(cause: PauseCause, last: LastRefusal | null, rejected: number): Pause {
  const { requestId = null, whatToDo = '' } = last ?? {}
  const message = last === null ? '' : answerInWords(last)
  const code = last?.errorCode ?? 'Refused'
  switch (cause) {
    case 'platform':
      return { code, requestId, message, whatToDo }
    case 'page':
      return {
        code,
        requestId,
        message,
        whatToDo: `Check --page. ${NONE_REJECTED} ${IF_WRONG_PAGE} If the page was missing, resume once it is there.`,
      }
    case 'failures':
      return {
        code,
        requestId,
        message: `${MAX_FAILURES} calls in a row failed. The last answer: ${message}`,
        whatToDo,
      }
    case 'unaccepted':
      return {
        code,
        requestId,
        message: `The platform refused many calls in a row, so the fault may not be in a row of the file. The last answer: ${message}`,
        whatToDo: `${checkTheImport(rejected)} ${IF_WRONG_PAGE} Else resume.`,
      }
    case 'suspects':
      return {
        code,
        requestId,
        message: `Only rows are left that the platform refused, each of them sent alone. As no call after that was accepted, the fault may not be in these rows. The last answer: ${message}`,
        whatToDo: `${checkTheImport(rejected)} ${IF_WRONG_PAGE} Else resume: rows that are refused again with the same code are rejected.`,
      }
    case 'rejects':
      return {
        code: TOO_MANY_REJECTS,
        requestId: null,
        message: `The platform rejected more than ${100 * MAX_REJECTED_SHARE} % of the rows.`,
        whatToDo:
          'Look at the rejects. Then resume to continue without those rows, or cancel and correct the file.',
      }
  }
}

const NONE_REJECTED = 'No row was rejected because of this.'
const IF_WRONG_PAGE = 'If the page is wrong, cancel the import and import the file again with the right page.'

function checkTheImport(rejected: number): string {
  const check = 'Check --page, the method and the values that the message names.'
  return rejected === 0
    ? `${check} ${NONE_REJECTED}`
    : `${check} Check whether ${rejected === 1 ? 'the row' : `the ${rejected} rows`} rejected so far ${isOrAre(rejected)} really wrong.`
}

/** The pause of an import that was to send some rows first; the outcome of `heldRows` of them is unknown. */
export function firstRowsSent(
  id: bigint,
  { firstRows, heldRows, rejected }: { firstRows: number; heldRows: number; rejected: number },
): Pause {
  const pause = { code: FIRST_ROWS_SENT, requestId: null }
  if (heldRows > 0) {
    return {
      ...pause,
      message: `${firstInWords(firstRows)} been tried; the outcome of ${heldRows} of them is unknown.`,
      whatToDo: `Check the status page, record the outcome with \`${resolveAsSent(id)}\` (or \`--as resend\`); then resume the import, or cancel it.`,
    }
  }
  const whatToDo = 'then resume the import, or cancel it.'
  return rejected === 0
    ? {
        ...pause,
        message: `${firstInWords(firstRows)} been sent.`,
        whatToDo: `Check the status page; ${whatToDo}`,
      }
    : {
        ...pause,
        message: `Of the first ${counted(firstRows, 'row')}, ${counted(firstRows - rejected, 'was', 'were')} sent and ${counted(rejected, 'was', 'were')} rejected by the platform.`,
        whatToDo: `Check the status page and the rejects; ${whatToDo}`,
      }
}

function firstInWords(rows: number): string {
  return rows === 1 ? 'The first row has' : `The first ${counted(rows, 'row')} have`
}

/** The pause of an import of which another may have sent some rows, where one of the two is to hold uncertain rows. */
export function uncertainElsewhere(other: bigint, rows: number): Pause {
  return {
    code: 'UncertainElsewhere',
    requestId: null,
    message: `Import ${other} may have sent ${counted(rows, 'row')} of it; the outcome is unknown.`,
    whatToDo: `Check whether they arrived, record it with \`${resolveAsSent(other)}\` (or \`--as resend\`), then resume.`,
  }
}

/** The pause of each import of a database that is not the one that Ferry knew. */
export function databaseChanged(change: DatabaseChange): Pause {
  const since = change.missingSince === null ? '' : ` since ${change.missingSince.toISOString()}`
  return {
    code: DATABASE_CHANGED,
    requestId: null,
    message: `${changeInWords(change)} People who were sent${since} would be sent again.`,
    whatToDo:
      'Find out on the platform, or in the lost database, who was sent. If they may be sent again, resume the import: it ' +
      'continues from what this database knows. Else cancel it, and import those who are left.',
  }
}

function resolveAsSent(id: bigint): string {
  return `ferry imports resolve ${id} --as sent`
}
