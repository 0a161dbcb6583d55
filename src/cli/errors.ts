import { EXIT, type ExitCode } from './exit.ts'
import { harmless, printAside } from './output.ts'

/** The command was used wrongly; the message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What was asked for cannot be done; the message says why, and what can. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

/** Says on stderr what happened and what to do, and returns the exit code that goes with it. */
export function explain(error: unknown): ExitCode {
  const known = error instanceof Error ? error : new Error(String(error))
  printAside(`ferry: ${known.message.split('\n').map(harmless).join('\n')}`)
  if ('whatToDo' in known) printAside(harmless(String(known.whatToDo)))
  else if (!EXPECTED.has(known.name)) printAside(causesOf(known))
  return known.name === 'UsageError' || known.name === 'ConfigurationError' ? EXIT.usage : EXIT.failed
}

/** Errors whose message says all there is to say. By name, so that their modules need not be loaded. */
const EXPECTED = new Set([
  'UsageError',
  'CommandFailed',
  'NoSuchSnapshot',
  'ConfigurationError',
  'DatabaseIsNewer',
  'NothingToApprove',
  'UnknownSchedule',
  'QueueRefused',
])

/** For what nobody foresaw: where it came from, for a report to whoever maintains Ferry. */
function causesOf(error: Error): string {
  const lines = [(error.stack ?? '').split('\n').slice(1, 6).join('\n')]
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    lines.push(`  caused by ${cause.name}: ${cause.message}`)
  }
  return `This is not expected. Please report it with these lines:\n${lines.join('\n')}`
}
