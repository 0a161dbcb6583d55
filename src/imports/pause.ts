import type { Pause, Said } from '#src/store/imports/outcomes.ts'
import type { PauseCause } from './outcome.ts'

/** The refusal that led to a pause; its message holds no recipient. */
export type LastRefusal = Said & { readonly whatToDo?: string }

/** Why an import is paused, in words for a person; `rejected` of its rows the platform has rejected so far. */
export function pauseOf(cause: PauseCause, last: LastRefusal | null, rejected: number): Pause {
  const { requestId = null, message = '', whatToDo = '' } = last ?? {}
  const code = last?.errorCode ?? 'Refused'
  switch (cause) {
    case 'platform':
      return { code, requestId, message: message ?? '', whatToDo }
    case 'page':
      return {
        code,
        requestId,
        message: message ?? '',
        whatToDo:
          'Check --page: nobody was sent or rejected for this. Cancel and import again with the right page, or resume once there is this one.',
      }
    case 'failures':
      return { code, requestId, message: `Ten calls in a row failed. The last: ${message}`, whatToDo }
    case 'unaccepted':
      return {
        code,
        requestId,
        message: `The platform refuses one call after another: the fault may not be in a row. The last: ${message}`,
        whatToDo: checkTheImport(rejected),
      }
    case 'rejects':
      return {
        code: 'TooManyRejects',
        requestId: null,
        message: 'The platform rejects more than 1 % of the rows.',
        whatToDo: 'Look at the rejects. Resume to go on all the same, or cancel and mend the file.',
      }
  }
}

function checkTheImport(rejected: number): string {
  const check = 'Check the status page, the method and the values the message names'
  return rejected === 0
    ? `${check}; nobody was rejected for this. Then resume.`
    : `${check}, and whether what was rejected so far (${rejected}) was at fault. Then resume.`
}
