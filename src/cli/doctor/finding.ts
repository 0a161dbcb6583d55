import { exitCodeFor, whatToDoAbout } from '../errors.ts'
import type { ExitCode } from '../exit.ts'

/** The result of one check. */
export type Finding = {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly whatToDo?: string
  /** The exit code of a failure; 1 by default. */
  readonly exit?: ExitCode
}

/** Returns a handler that turns the error of a check into a finding. */
export function failed(check: string): (error: unknown) => Finding {
  return error => {
    const known = error instanceof Error ? error : new Error(String(error))
    const whatToDo = whatToDoAbout(known)
    return {
      // Whatever was checked, the fault is the database's.
      check: known.name === 'PostgresUnavailable' ? 'postgres' : check,
      status: 'fail',
      found: known.message,
      exit: exitCodeFor(known),
      ...(whatToDo === undefined ? {} : { whatToDo }),
    }
  }
}

/** Yields the findings, and a failure if they end with an error, so that the checks after them still run. */
export async function* orFailed(check: string, findings: AsyncIterable<Finding>): AsyncGenerator<Finding> {
  try {
    yield* findings
  } catch (error) {
    yield failed(check)(error)
  }
}
