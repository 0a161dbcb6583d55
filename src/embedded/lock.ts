import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { DataDirUnusable, PostgresNotRunning } from './errors.ts'

const TRY_EVERY_MS = 20
const SQLITE_BUSY = 5

/**
 * Runs `work` under a lock of the directory: one process at a time. Throws `PostgresNotRunning` if another process holds the
 * lock for longer than `retryForMs`, and `DataDirUnusable`.
 *
 * It is the lock of an empty SQLite file. The operating system releases it when the process dies, however it dies, so
 * nobody has to decide whether a lock file is stale.
 */
export async function withDirectoryLock<T>(
  directory: string,
  retryForMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const file = join(directory, 'lock')
  const giveUpAt = performance.now() + retryForMs
  let lock = tryLock(file)
  while (lock === undefined) {
    if (performance.now() > giveUpAt) {
      throw new PostgresNotRunning(`Another process has locked ${directory} for too long.`, {
        whatToDo: `Find the Ferry that is starting, stopping or suspended (it has ${file} open), and end it.`,
      })
    }
    await delay(TRY_EVERY_MS)
    lock = tryLock(file)
  }
  try {
    return await work()
  } finally {
    lock.close()
  }
}

function tryLock(file: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file)
    lock.exec('begin exclusive')
    return lock
  } catch (cause) {
    lock?.close()
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY) return undefined
    throw new DataDirUnusable(`${file} cannot be locked.`, { cause })
  }
}
