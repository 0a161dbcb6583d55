import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'

/**
 * Whether the queue answers, as all who use it in this process see it. That it does not is logged once, and that it does
 * again is logged once; what fails in between is logged at `debug`.
 */
export type Outage = {
  /** `what` failed; the outage lasts until the same works again. */
  begins(what: string, error: unknown): void
  ends(what: string): void
  lasts(what: string): boolean
  /** From now on the connections are closed on purpose: what fails is logged at `debug` only. */
  closes(): void
}

/** `where` names the server, for the log. */
export function createOutage(log: Logger, where: string): Outage {
  const failing = new Set<string>()
  let isClosing = false
  return {
    begins(what, error) {
      const details = { what, where, error: wordsOf(error) }
      if (isClosing) return log.debug(details, 'A call to the queue failed while it was being closed.')
      if (failing.size > 0) log.debug(details, 'The queue still does not answer.')
      else
        log.warn(details, 'The queue does not answer. Nothing is lost; Ferry calls it again until it does.')
      failing.add(what)
    },
    ends(what) {
      if (failing.delete(what) && failing.size === 0) log.info('The queue answers again.')
    },
    lasts: what => failing.has(what),
    closes() {
      isClosing = true
    },
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

/** The pause after so many failures: a quarter of a second, then twice as long each time, at most five seconds. */
export function backOffMs(failures: number): number {
  return Math.min(250 * 2 ** (failures - 1), 5_000)
}
