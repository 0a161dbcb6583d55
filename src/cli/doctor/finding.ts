import { exitCodeFor, whatToDoAbout } from '../errors.ts'
import type { ExitCode } from '../exit.ts'

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

/** Doctor waits this long for an answer from a server, then reports that it got none. */
export const ANSWER_WITHIN_MS = 5_000

/** A server did not answer, whether or not it accepted the connection. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly whatToDo: string
  constructor(who: string, whatToDo: string) {
    super(`${who} did not answer within ${ANSWER_WITHIN_MS / 1_000} s`)
    this.whatToDo = whatToDo
  }
}

/** A statement of doctor had no answer in time. */
class DatabaseSilent extends NoAnswer {
  constructor() {
    super('the database', 'Check whether it is overloaded, and whether its address still points to it.')
  }
}

function silenceOf(error: unknown): Error | null {
  return error instanceof Error && /query read timeout/i.test(error.message) ? new DatabaseSilent() : null
}

/** A standby does answer. */
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
