import { chmod, open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { DataDirUnusable, PostgresNotRunning } from './errors.ts'

const TRY_EVERY_MS = 20
const SQLITE_BUSY = 5

/** A wait longer than this is logged, with the process that holds the lock. */
const REPORT_AFTER_MS = 1_000

export type LockOptions = {
  readonly retryForMs: number
  readonly log: Logger
  /** Ends the wait at once. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `work` under a lock of the directory: one process at a time. Throws `PostgresNotRunning` if another process holds the
 * lock for longer than `retryForMs`, the reason of `signal`, and `DataDirUnusable`.
 *
 * It is the lock of an empty SQLite file. The operating system releases it when the process dies, however it dies, so
 * nobody has to decide whether a lock file is stale. Only this user can open the file: a reader could lock it.
 */
export async function withDirectoryLock<T>(
  directory: string,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const file = join(directory, 'lock')
  await keepToOurselves(file)
  const lock = await waitForLock(directory, file, options)
  try {
    return await work()
  } finally {
    lock.close()
  }
}

async function waitForLock(
  directory: string,
  file: string,
  { retryForMs, log, signal }: LockOptions,
): Promise<DatabaseSync> {
  const startedAtMs = performance.now()
  const reportAfterMs = Math.min(REPORT_AFTER_MS, retryForMs)
  const soon = await tryLockFor(file, reportAfterMs, signal)
  if (soon) return soon
  if (reportAfterMs < retryForMs) {
    log.warn(`${await holdersOf(file)} has locked ${directory}. Waiting for it to release the lock.`)
    const later = await tryLockFor(file, retryForMs - reportAfterMs, signal)
    if (later) return later
  }
  const waitedS = Math.round((performance.now() - startedAtMs) / 1_000)
  throw new PostgresNotRunning(`${await holdersOf(file)} has locked ${directory} for ${waitedS} s.`, {
    whatToDo: `Find the Ferry that is starting, stopping or suspended (it has ${file} open), and end it.`,
  })
}

/** Returns the lock, or undefined if it was not free within `ms`. Throws the reason of `signal`. */
async function tryLockFor(
  file: string,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<DatabaseSync | undefined> {
  const giveUpAtMs = performance.now() + ms
  for (;;) {
    const lock = tryLock(file)
    if (lock) return lock
    signal?.throwIfAborted()
    if (performance.now() > giveUpAtMs) return undefined
    await delay(TRY_EVERY_MS, undefined, signal ? { signal } : {}).catch(() => {}) // thrown above
  }
}

/**
 * Creates the file. One of an earlier version may be readable by others. It is never opened again here: closing a file
 * loses all locks that the process has on it.
 */
async function keepToOurselves(file: string): Promise<void> {
  try {
    const created = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await created?.close()
    const { mode, uid } = await stat(file)
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) await chmod(file, 0o600)
  } catch (cause) {
    throw cannotLock(file, cause)
  }
}

function cannotLock(file: string, cause: unknown): DataDirUnusable {
  return new DataDirUnusable(`${file} cannot be locked: ${reasonOf(cause)}.`, { cause })
}

/** Which processes hold a lock of the file, in words, as far as the system says so. */
async function holdersOf(file: string): Promise<string> {
  const { ino } = await stat(file)
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '')
  const pids = locks
    .split('\n')
    .flatMap(line => (line.includes(`:${ino} `) ? (/ (\d+) \w+:\w+:\d+ /.exec(line)?.[1] ?? []) : []))
  const holders = await Promise.all([...new Set(pids)].map(processInWords))
  return holders.length === 0 ? 'Another process' : `Another process (${holders.join(', ')})`
}

async function processInWords(pid: string): Promise<string> {
  const found = await stat(`/proc/${pid}`).catch(() => null)
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  return [`pid ${pid}`, name.trim(), found ? `of user ${found.uid}` : ''].filter(Boolean).join(' ')
}

function tryLock(file: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file)
    // On a full disk there is no room for a journal, and nothing is ever written.
    lock.exec('pragma journal_mode = memory')
    lock.exec('begin exclusive')
    return lock
  } catch (cause) {
    lock?.close()
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY) return undefined
    throw cannotLock(file, cause)
  }
}
