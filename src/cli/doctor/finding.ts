import { exitCodeFor, whatToDoAbout } from '../errors.ts'
import type { ExitCode } from '../exit.ts'

/** What one check found. */
export type Finding = {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly whatToDo?: string
  /** Of a failure, if it is not 1. */
  readonly exit?: ExitCode
}

/** A failure as the error tells it. */
export function failed(check: string): (error: unknown) => Finding {
  return error => {
    const known = error instanceof Error ? error : new Error(String(error))
    const whatToDo = whatToDoAbout(known)
    return {
      // Whatever was looked at, it is the database that is away.
      check: known.name === 'PostgresAway' ? 'postgres' : check,
      status: 'fail',
      found: known.message,
      exit: exitCodeFor(known),
      ...(whatToDo === undefined ? {} : { whatToDo }),
    }
  }
}

/** The findings, and one more if they end in an error: what comes after them is still worth a look. */
export async function* orFailed(check: string, findings: AsyncIterable<Finding>): AsyncGenerator<Finding> {
  try {
    yield* findings
  } catch (error) {
    yield failed(check)(error)
  }
}
