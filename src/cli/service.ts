import { explain } from './errors.ts'
import { EXIT } from './exit.ts'
import { printAside } from './output.ts'
import { openSession, type Session } from './session.ts'

/** From the signal to the end, at most: what is under way has had its time by then. */
const END_WITHIN_MS = 29_500

/** A terminal that is closed sends SIGHUP. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const LEFT_OVER_MS = 500

/**
 * Opens a service and keeps it until Ctrl-C, SIGTERM or SIGHUP, then closes what was opened, newest first, and exits 0.
 *
 * A second signal exits at once, and so does a closing that takes too long: nothing is lost by that, for what
 * was under way is found unfinished in Postgres and taken up again.
 */
export function serve(
  open: (session: Session, opened: AsyncDisposableStack) => Promise<void>,
): Promise<void> {
  return serveUntilStopped(async (signal, opened) => open(await openSession('info', signal), opened))
}

/** The same for a service that needs no settings, and so does not mind wrong ones. */
export async function serveUntilStopped(
  open: (signal: AbortSignal, opened: AsyncDisposableStack) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const stopped = Promise.withResolvers<void>()
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted)
    stop.abort(new Error('stopped'))
    stopped.resolve()
    setTimeout(endLate, END_WITHIN_MS).unref()
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  try {
    await using opened = new AsyncDisposableStack()
    await open(stop.signal, opened)
    await stopped.promise
  } catch (error) {
    // Told to stop while it was still starting: that is an end as good as any.
    process.exitCode = isStop(error, stop.signal) ? EXIT.done : explain(error)
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal)
    // A connection to a queue that does not answer must not keep a process up that has nothing left to do.
    setTimeout(() => process.exit(), LEFT_OVER_MS).unref()
  }
}

/** Node's own functions wrap the reason in an AbortError. */
function isStop(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && error instanceof Error && (error.cause ?? error) === signal.reason
}

function endLate(): void {
  printAside('ferry: closing took too long, so it was cut short; nothing is lost')
  process.exit(EXIT.failed)
}
