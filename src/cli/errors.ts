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
  const whatToDo = whatToDoAbout(known)
  printAside(`ferry: ${(known.message || codeOf(known) || known.name).split('\n').map(harmless).join('\n')}`)
  if (whatToDo !== undefined) printAside(harmless(whatToDo))
  else if (!SAYING_ALL.has(known.name)) printAside(causesOf(known))
  return exitCodeFor(known)
}

/** Wrong usage, a wrong setting, or a failure. */
export function exitCodeFor(error: Error): ExitCode {
  return WRONG_USAGE.has(error.name) || isUnusablePath(error) ? EXIT.usage : EXIT.failed
}

/** What a person can do about it, if that is known: as the error says, or as the fault beneath it tells. */
export function whatToDoAbout(error: Error): string | undefined {
  if ('whatToDo' in error) return String(error.whatToDo)
  if (isUnusablePath(error)) {
    return 'Ferry keeps its files in FERRY_DATA_DIR: set it to a directory that this user may make and write to.'
  }
  // What lies beneath may look like another fault: a pooler that refuses the queue is not a database that went away.
  if (SAYING_ALL.has(error.name)) return undefined
  return (
    adviceOn(codeOf(error), error.message) ??
    (error.cause instanceof Error ? whatToDoAbout(error.cause) : undefined)
  )
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}

/** The data directory is the one place in which Ferry makes and opens files. */
function isUnusablePath(error: Error): boolean {
  return 'path' in error && 'syscall' in error && UNUSABLE.has(codeOf(error))
}

const UNUSABLE = new Set(['ENOTDIR', 'ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG', 'ELOOP', 'EEXIST'])

/** By name, so that their modules need not be loaded. */
const WRONG_USAGE = new Set([
  'UsageError',
  'ConfigurationError',
  'UnknownSchedule',
  'NoSuchSnapshot',
  'DataDirUnusable',
  'NoPostgresYet',
  'SchemaMissing',
  'FileRefused',
  'ImportNotFound',
])

/** Errors whose message says all there is to say. By name, so that their modules need not be loaded. */
const SAYING_ALL = new Set([
  'UsageError',
  'CommandFailed',
  'NoSuchSnapshot',
  'ConfigurationError',
  'DatabaseIsNewer',
  'NothingToApprove',
  'UnknownSchedule',
  'QueueRefused',
  'ImportNotFound',
  'ImportRefuses',
])

/** What to do about faults of the machine and of its services, which nobody wrapped. */
function adviceOn(code: string, message: string): string | undefined {
  if (code === 'EADDRINUSE') return 'Something else listens there: end it, or choose another port.'
  if (code === 'EACCES') return 'Run Ferry as a user who may do this, or choose another place or port.'
  if (code === 'ENOSPC' || code === '53100') return 'Make room on the disk.'
  if (code === '42501') {
    return (
      'Run `ferry migrate` as the owner of the tables, and as the owner give this role its rights: ' +
      'GRANT USAGE ON SCHEMA ferry, ferry_queue TO …; ' +
      'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ferry, ferry_queue TO …; ' +
      'GRANT USAGE ON ALL SEQUENCES IN SCHEMA ferry, ferry_queue TO …; (With REDIS_URL, there is no ferry_queue.) ' +
      'Imports need GRANT TEMPORARY ON DATABASE … TO …; too. docs/operators.md ("Two roles") has it all, for copying.'
    )
  }
  if (code === '53300')
    return 'Raise max_connections, or end what uses the others; `ferry doctor` counts them.'
  if (code === '25006') {
    return 'The server takes no writes: it is a standby, or a failover is under way. Wait, or name the primary in DATABASE_URL.'
  }
  if (code === '25P03' || code === '25P04') {
    return 'Postgres ended a transaction that stood still for too long. Run this again: nothing is left half written.'
  }
  if (/^(40|55P03)/.test(code)) {
    return 'Another transaction was in the way for too long. Run this again: nothing is left half written.'
  }
  // Classes 08 and 57P: the connection broke, or the server is being stopped or started.
  if (
    /^(08|57P|ECONN|EPIPE|ETIMEDOUT|EAI_|ENOTFOUND|EHOSTUNREACH|ENETUNREACH)/.test(code) ||
    /^Connection terminated/.test(message)
  ) {
    return 'The database went away. See that it is up and run this again: nothing is left half written.'
  }
  return undefined
}

/** For what nobody foresaw: where it came from, for a report to whoever maintains Ferry. */
function causesOf(error: Error): string {
  const lines = [(error.stack ?? '').split('\n').slice(1, 6).join('\n')]
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    lines.push(`  caused by ${cause.name}: ${cause.message}`)
  }
  return `This is not expected. Please report it with these lines:\n${lines.join('\n')}`
}
