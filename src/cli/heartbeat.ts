import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ferry } from '#src/ferry.ts'
import { reasonOf } from '#src/model/reason.ts'

/** In the data directory. The image's health check looks at its age. */
export const HEARTBEAT_FILE = 'alive'

const BEAT_EVERY_MS = 20_000

/**
 * Touches a file for as long as this process turns and Postgres answers it; gone on dispose. Where there is no data
 * directory, or none that can be written, nobody looks for it.
 */
export function openHeartbeat({
  pool,
  config,
  log,
}: Pick<Ferry, 'pool' | 'config' | 'log'>): AsyncDisposable {
  const path = join(config.dataDir, HEARTBEAT_FILE)
  const beat = async () => {
    try {
      await pool.query('select 1')
      await writeFile(path, '')
    } catch (error) {
      log.debug({ error: reasonOf(error) }, 'no heartbeat')
    }
  }
  let beating = beat()
  const timer = setInterval(() => {
    beating = beat()
  }, BEAT_EVERY_MS)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await beating
      await rm(path, { force: true })
    },
  }
}
