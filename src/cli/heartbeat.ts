import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ferry } from '#src/ferry.ts'
import { reasonOf } from '#src/model/reason.ts'
import { acquireLease } from '#src/store/leases.ts'

/** In the data directory. The image's health check looks at its age. */
export const HEARTBEAT_FILE = 'alive'

const BEAT_EVERY_MS = 20_000

/** One that is not answered within this is none. */
const BEAT_WITHIN_MS = 10_000

/**
 * Touches a file for as long as work is possible here: this process turns, and takes a lease in Postgres as work does, by
 * a connection of the pool that work uses and with a write that is committed. Gone on dispose. Where there is no data
 * directory, or none that can be written, nobody looks for it.
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
      log.debug({ error: reasonOf(error) }, 'no heartbeat')
    }
  }
  let isBeating = false
  let beating = beatOnce()
  const timer = setInterval(() => {
    if (!isBeating) beating = beatOnce()
  }, BEAT_EVERY_MS)

  /** One at a time: those that wait for an answer must not take one connection after another. */
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
