import { exitCodeFor, whatToDoAbout } from '../errors.ts'
import type { ExitCode } from '../exit.ts'
import { NoAnswer } from './bound.ts'

/** The result of one check. */
export type Finding = {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly whatToDo?: string
  /** The exit code; 1 by default for a failure, and 0 for anything else. */
  readonly exit?: ExitCode
  /** Whether the database does not answer: what needs it is not checked then. */
  readonly isUnreachable?: boolean
}

/** A statement of doctor's had no answer in time. */
class DatabaseSilent extends NoAnswer {
  constructor() {
    super('the database', 'See whether it is overloaded, or whether its address still leads to it.')
  }
}

function silenceOf(error: unknown): Error | null {
  return error instanceof Error && /query read timeout/i.test(error.message) ? new DatabaseSilent() : null
}

/** A standby answers all the same. */
function isReadOnly(error: Error): boolean {
  return 'code' in error && error.code === '25006'
}

/** Returns a handler that turns the error of a check into a finding. */
export function failed(check: string): (error: unknown) => Finding {
  return error => {
    const known = silenceOf(error) ?? (error instanceof Error ? error : new Error(String(error)))
    const whatToDo = whatToDoAbout(known)
    const isUnreachable = known instanceof DatabaseSilent || known.name === 'PostgresUnavailable'
    return {
      // Whatever was checked, the fault is the database's.
      check: isUnreachable ? 'postgres' : check,
      ...(isUnreachable && !isReadOnly(known) && { isUnreachable }),
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
