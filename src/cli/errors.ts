import { HISTORY_REMOVED } from '#src/model/history-removed.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { harmless, harmlessMessage, printAside } from './output.ts'

/** The command was used wrongly; the message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command cannot be done. The message says why, and what is possible. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

/** Prints on stderr what happened and what to do. Returns the exit code for the error. */
export function explain(error: unknown): ExitCode {
  const known = error instanceof Error ? error : new Error(String(error))
  const whatToDo = whatToDoAbout(known)
  printAside(`ferry: ${harmlessMessage(known.message || codeOf(known) || known.name)}`)
  if (whatToDo !== undefined) printAside(harmless(whatToDo))
  else if (!SELF_EXPLAINING.has(known.name)) printAside(causesOf(known))
  return exitCodeFor(known)
}

/** Returns the exit code for an error: wrong usage or configuration, or a failure. */
export function exitCodeFor(error: Error): ExitCode {
  const isWrong = WRONG_USAGE.has(error.name) || isUnusablePath(error) || codeOf(error) === HISTORY_REMOVED
  return isWrong ? EXIT.usage : EXIT.failed
}

/** Returns what a person can do about an error, from the error itself or from its cause; undefined if that is unknown. */
export function whatToDoAbout(error: Error): string | undefined {
  if ('whatToDo' in error) return String(error.whatToDo)
  if (isUnusablePath(error)) {
    return 'Ferry keeps its files in FERRY_DATA_DIR. Set it to a directory that this user can create and write to.'
  }
  // Its cause may look like another fault: a pooler that refuses the queue is not a lost database.
  if (SELF_EXPLAINING.has(error.name)) return undefined
  return (
    adviceOn(codeOf(error), error.message) ??
    (error.cause instanceof Error ? whatToDoAbout(error.cause) : undefined)
  )
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}

/** Whether a path cannot be used. Ferry creates and opens files only in its data directory. */
function isUnusablePath(error: Error): boolean {
  return 'path' in error && 'syscall' in error && UNUSABLE.has(codeOf(error))
}

const UNUSABLE = new Set(['ENOTDIR', 'ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG', 'ELOOP', 'EEXIST'])

/** Errors of wrong usage or configuration. By name, so that their modules need not be loaded. */
const WRONG_USAGE = new Set([
  'UsageError',
  'ConfigurationError',
  'AddressUnusable',
  'UnknownSchedule',
  'NoSuchSnapshot',
  'DataDirUnusable',
  'NoPostgresYet',
  'SchemaMissing',
  'FileRefused',
  'ImportNotFound',
])

/** Errors whose message is enough. By name, so that their modules need not be loaded. */
const SELF_EXPLAINING = new Set([
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

/** Returns what to do about an error of the system or of Postgres, by its code. */
function adviceOn(code: string, message: string): string | undefined {
  if (code === 'EADDRINUSE') return 'Another program uses this port. End it, or choose another port.'
  if (code === 'EACCES')
    return 'Run Ferry as a user that has the right to do this, or choose another path or port.'
  if (code === 'ENOSPC' || code === '53100') return 'Free some disk space.'
  if (code === '42501') {
    return (
      'Run `ferry migrate` as the owner of the tables, and as the owner give this role its rights: ' +
      'GRANT USAGE ON SCHEMA ferry, ferry_internal, ferry_queue TO …; ' +
      'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ferry, ferry_internal, ferry_queue TO …; ' +
      'GRANT USAGE ON ALL SEQUENCES IN SCHEMA ferry, ferry_internal, ferry_queue TO …; ' +
      'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ferry, ferry_internal, ferry_queue TO …; (With REDIS_URL, there is no ferry_queue.) ' +
      'Imports need GRANT TEMPORARY ON DATABASE … TO …; too. docs/operators.md ("Two roles") has all of them, to copy. ' +
      'But give them to no role that is to read only, such as a member of ferry_reader: it is for SQL, and no command needs it.'
    )
  }
  if (code === HISTORY_REMOVED) return 'FERRY_KEEP_VERSIONS says how long versions are kept.'
  if (code === '53300')
    return 'Raise max_connections, or end programs that use connections. `ferry doctor` counts them.'
  if (code === '25006') {
    return 'The server accepts no writes: it is a standby, or a failover is in progress. Wait, or name the primary in DATABASE_URL.'
  }
  if (code === '25P03' || code === '25P04') {
    return 'Postgres ended a transaction that was idle for too long. Run this again: every change is written whole or not at all.'
  }
  if (/^(40|55P03)/.test(code)) {
    return 'Another transaction held a lock for too long. Run this again: every change is written whole or not at all.'
  }
  if (code === '57014') {
    return 'Postgres cancelled a statement: it took longer than a statement_timeout, or somebody cancelled it. Run this again: every change is written whole or not at all.'
  }
  // Classes 08 and 57P: the connection broke, or the server is being stopped or started.
  if (
    /^(08|57P|ECONN|EPIPE|ETIMEDOUT|EAI_|ENOTFOUND|EHOSTUNREACH|ENETUNREACH)/.test(code) ||
    /^Connection terminated/.test(message)
  ) {
    return 'The connection to the database was lost. Check that it is running, and run this again: every change is written whole or not at all.'
  }
  return undefined
}

/** Returns where an unexpected error came from, for a report to Ferry's maintainers. */
function causesOf(error: Error): string {
  const [, ...frames] = (error.stack ?? '').split('\n')
  const lines = frames
    .filter(line => /^\s+at /.test(line))
    .slice(0, 5)
    .map(harmless)
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    lines.push(harmless(`  caused by ${cause.name}: ${cause.message}`))
  }
  return `This error is unexpected. Please report it with these lines:\n${lines.join('\n')}`
}
