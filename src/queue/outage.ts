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
}

/** `where` tells people which server it is. */
export function createOutage(log: Logger, where: string): Outage {
  const failing = new Set<string>()
  return {
    begins(what, error) {
      const details = { what, where, error: reasonOf(error) }
      if (failing.size > 0) log.debug(details, 'the queue is still away')
      else log.warn(details, 'The queue is away. Nothing is lost; Ferry asks for it again and again.')
      failing.add(what)
    },
    ends(what) {
      if (failing.delete(what) && failing.size === 0) log.info('The queue is back.')
    },
    lasts: what => failing.has(what),
  }
}

/** A failure is followed by a quarter of a second, then by twice as long each time, at most five seconds. */
export function backOffMs(failures: number): number {
  return Math.min(250 * 2 ** (failures - 1), 5_000)
}
