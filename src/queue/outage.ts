import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'

/**
 * Whether the queue answers, as all who use it in this process see it. The beginning and the end of an outage are logged once
 * each; what fails in between is logged at `debug`.
 */
export class Outage {
  readonly #log: Logger
  /** The server, for the log. */
  readonly #where: string
  readonly #failing = new Set<string>()
  #isClosing = false

  constructor(log: Logger, where: string) {
    this.#log = log
    this.#where = where
  }

  /** `what` failed; the outage lasts until the same works again. */
  begins(what: string, error: unknown): void {
    const details = { what, where: this.#where, error: wordsOf(error) }
    if (this.#isClosing) {
      this.#log.debug(details, 'A call to the queue failed while it was being closed.')
      return
    }
    if (this.#failing.size > 0) this.#log.debug(details, 'The queue still does not answer.')
    else this.#log.warn(details, 'The queue does not answer. Nothing is lost; Ferry keeps trying.')
    this.#failing.add(what)
  }

  ends(what: string): void {
    if (this.#failing.delete(what) && this.#failing.size === 0) this.#log.info('The queue answers again.')
  }

  lasts(what: string): boolean {
    return this.#failing.has(what)
  }

  /** From now on the connections are closed on purpose: what fails is logged at `debug` only. */
  closes(): void {
    this.#isClosing = true
  }
}

/** The queue's connections begin with a `search_path`. If its functions are not found, that or its tables are missing. */
function wordsOf(error: unknown): string {
  const isNotFound = error instanceof Error && 'code' in error && error.code === '42883'
  if (!isNotFound) return reasonOf(error)
  return (
    `${reasonOf(error)}: the queue has no tables yet (\`ferry migrate\` makes them), or a connection pooler drops the ` +
    'search_path with which its sessions begin'
  )
}

/** The pause after this many failures in a row: a quarter of a second, then twice as long each time, at most five seconds. */
export function backOffMs(failures: number): number {
  return Math.min(250 * 2 ** (failures - 1), 5_000)
}
