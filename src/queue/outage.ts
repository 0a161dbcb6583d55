import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'

/**
 * Whether the queue is away, seen by all who use it in this process. That it is gone is said once, and once that it is
 * back; what fails in between is told at `debug`.
 */
export type Outage = {
  /** `what` failed; it counts as away until the same works again. */
  begins(what: string, error: unknown): void
  ends(what: string): void
  lasts(what: string): boolean
  /** From now on the connections are closed on purpose: what fails is told at `debug` only. */
  closes(): void
}

/** `where` tells people which server it is. */
export function createOutage(log: Logger, where: string): Outage {
  const failing = new Set<string>()
  let isClosing = false
  return {
    begins(what, error) {
      const details = { what, where, error: wordsOf(error) }
      if (isClosing) return log.debug(details, 'a call to the queue failed while it is being closed')
      if (failing.size > 0) log.debug(details, 'the queue is still away')
      else log.warn(details, 'The queue is away. Nothing is lost; Ferry asks for it again and again.')
      failing.add(what)
    },
    ends(what) {
      if (failing.delete(what) && failing.size === 0) log.info('The queue is back.')
    },
    lasts: what => failing.has(what),
    closes() {
      isClosing = true
    },
  }
}

/** The queue's connections begin with a `search_path`: where its functions are not found, that or its tables are missing. */
function wordsOf(error: unknown): string {
  const isNotFound = error instanceof Error && 'code' in error && error.code === '42883'
  if (!isNotFound) return reasonOf(error)
  return (
    `${reasonOf(error)}: the queue has no tables yet (\`ferry migrate\` makes them), or a connection pooler drops the ` +
    'search_path with which its sessions begin'
  )
}

/** A failure is followed by a quarter of a second, then by twice as long each time, at most five seconds. */
export function backOffMs(failures: number): number {
  return Math.min(250 * 2 ** (failures - 1), 5_000)
}
