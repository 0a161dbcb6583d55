import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'

/**
 * Runs `work` at once and again every `everyMs`, sooner if it returns fewer milliseconds, until it is stopped; never two at
 * a time. Work that fails is logged and tried again. `what` names it in the log.
 */
export function repeat(
  what: string,
  everyMs: number,
  work: () => Promise<number>,
  log: Logger,
): { stop(): Promise<void> } {
  let stopped = false
  let failing = false
  let timer: NodeJS.Timeout | undefined
  let running = turn()

  async function turn(): Promise<void> {
    let waitMs = everyMs
    try {
      waitMs = Math.min(waitMs, await work())
      if (failing) log.info(`The ${what} works again.`)
      failing = false
    } catch (error) {
      log[failing || isTransient(error) ? 'debug' : 'warn'](
        { error: reasonOf(error) },
        `The ${what} failed and is tried again.`,
      )
      // That Postgres does not answer, and answers again, is logged once by its pool.
      failing ||= !isTransient(error)
    }
    if (stopped) return
    timer = setTimeout(() => {
      running = turn()
    }, waitMs)
  }

  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
