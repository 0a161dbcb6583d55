import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'

/**
 * Runs `work` at once and again every `everyMs`, sooner if it returns fewer milliseconds, until it is stopped; never two at
 * a time. Work that fails is logged and tried again. `name` is for the log.
 */
export class Loop {
  readonly #name: string
  readonly #everyMs: number
  readonly #work: () => Promise<number>
  readonly #log: Logger
  #isStopped = false
  #isFailing = false
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void>

  constructor(name: string, everyMs: number, work: () => Promise<number>, log: Logger) {
    this.#name = name
    this.#everyMs = everyMs
    this.#work = work
    this.#log = log
    this.#running = this.#turn()
  }

  /** Resolves once nothing is running. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #turn(): Promise<void> {
    const waitMs = await this.#runOnce()
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.#turn()
    }, waitMs)
  }

  /** Returns in how many milliseconds to run again. */
  async #runOnce(): Promise<number> {
    try {
      const waitMs = Math.min(this.#everyMs, await this.#work())
      if (this.#isFailing) this.#log.info(`The ${this.#name} works again.`)
      this.#isFailing = false
      return waitMs
    } catch (error) {
      // That Postgres does not answer, and answers again, is logged once by its pool.
      const isNews = !this.#isFailing && !isTransient(error)
      this.#log[isNews ? 'warn' : 'debug'](
        { error: reasonOf(error) },
        `The ${this.#name} failed and will be tried again.`,
      )
      if (isNews) this.#isFailing = true
      return this.#everyMs
    }
  }
}
