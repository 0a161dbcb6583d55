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

type Context = Pick<Ferry, 'pool' | 'config' | 'holder' | 'log'>

/**
 * Touches a file for as long as this process can work: its event loop turns, and it can take a lease in Postgres as work
 * does, by a connection of the same pool and with a write that is committed. Dispose removes the file. Where there is no
 * data directory, or none that can be written, there is no file, and nothing looks for it.
 */
export class Heartbeat implements AsyncDisposable {
  readonly #context: Context
  readonly #path: string
  readonly #timer: NodeJS.Timeout
  /** The beat under way. One at a time, so that those that wait for an answer do not take one connection after another. */
  #beat: Promise<void> | null = null

  constructor(context: Context) {
    this.#context = context
    this.#path = join(context.config.dataDir, HEARTBEAT_FILE)
    this.#timer = setInterval(() => this.#start(), BEAT_EVERY_MS)
    this.#start()
  }

  #start(): void {
    this.#beat ??= this.#touch().finally(() => {
      this.#beat = null
    })
  }

  async #touch(): Promise<void> {
    const { pool, holder, log } = this.#context
    try {
      const lease = await acquireLease(pool, `alive:${holder}`, holder, log, { lifeMs: BEAT_WITHIN_MS })
      if ('heldBy' in lease) return
      await lease.release()
      await writeFile(this.#path, '')
    } catch (error) {
      log.debug({ error: reasonOf(error) }, 'No heartbeat: Postgres or the data directory cannot be written.')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#beat
    await rm(this.#path, { force: true })
  }
}
