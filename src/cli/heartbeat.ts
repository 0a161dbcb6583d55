import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { acquireLease } from '#src/db/leases.ts'
import type { Ferry } from '#src/ferry.ts'
import { reasonOf } from '#src/model/reason.ts'

/** A file in the data directory. The image's health check looks at its age. */
export const HEARTBEAT_FILE = 'alive'

const BEAT_EVERY_MS = 20_000

/** How long Postgres has to answer. */
const BEAT_WITHIN_MS = 10_000

/**
 * Touches a file for as long as this process can work: its event loop turns, and it can take a lease in Postgres as work
 * does, by a connection of the same pool and with a write that is committed. Dispose removes the file. Where there is no
 * data directory, or none that can be written, there is no file, and nothing looks for it.
 */
export function openHeartbeat({
  pool,
  config,
  holder,
  log,
}: Pick<Ferry, 'pool' | 'config' | 'holder' | 'log'>): AsyncDisposable {
  const path = join(config.dataDir, HEARTBEAT_FILE)
  const beat = async () => {
    try {
      const lease = await acquireLease(pool, `alive:${holder}`, holder, log, BEAT_WITHIN_MS)
      if ('heldBy' in lease) return
      await lease.release()
      await writeFile(path, '')
    } catch (error) {
      log.debug(
        { error: reasonOf(error) },
        'There is no heartbeat: Postgres or the data directory cannot be written.',
      )
    }
  }
  let isBeating = false
  let beating = beatOnce()
  const timer = setInterval(() => {
    if (!isBeating) beating = beatOnce()
  }, BEAT_EVERY_MS)

  /** One at a time, so that those that wait for an answer do not take one connection after another. */
  async function beatOnce(): Promise<void> {
    isBeating = true
    await beat()
    isBeating = false
  }

  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await beating
      await rm(path, { force: true })
    },
  }
}
