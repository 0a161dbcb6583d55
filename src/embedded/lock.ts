import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { DataDirUnusable, PostgresNotRunning } from './errors.ts'

const TRY_EVERY_MS = 20
const SQLITE_BUSY = 5

/**
 * Runs `work` while no other process does so for the same directory.
 *
 * The lock is that of an (empty) SQLite file: the operating system takes it back when the process dies, however
 * it dies, so nothing has to guess whether a lock file is stale. Throws `PostgresNotRunning` after
 * `patienceMs`, and `DataDirUnusable`.
 */
export async function withDirectoryLock<T>(
  directory: string,
  patienceMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const file = join(directory, 'lock')
  const giveUpAt = performance.now() + patienceMs
  let lock = tryLock(file)
  while (lock === undefined) {
    if (performance.now() > giveUpAt) {
      throw new PostgresNotRunning(`Another process has been busy with ${directory} for too long.`, {
        whatToDo: `Look for a Ferry that is starting, stopping or suspended (it holds ${file}), and end it.`,
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
