import { type CommandContext, openCommandContext } from './command-context.ts'
import { explain } from './errors.ts'
import { EXIT } from './exit.ts'
import { printAside } from './output.ts'

/** The longest time from the signal to the exit. Work under way has had its time to finish by then. */
const END_WITHIN_MS = 29_500

/** What runs until it is stopped. */
export type Service = {
  /** Resolves if it cannot go on. */
  readonly failed: Promise<Error>
}

/** A terminal that is closed sends SIGHUP. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** How long connections may close by themselves after everything was closed. */
const CLOSE_WITHIN_MS = 500

/** How long the reader of the output may take for the last lines. One that never reads must not keep the process. */
const READ_WITHIN_MS = 5_000

/**
 * Opens a service and keeps it until Ctrl-C, SIGTERM or SIGHUP, then closes what was opened, newest first, and exits 0.
 *
 * If it fails meanwhile, the error is explained, everything is closed, and the exit code is that of the error.
 *
 * A second signal exits at once, and so does a shutdown that takes too long. Nothing is lost: other workers find unfinished
 * work in Postgres and continue it.
 */
export function serve(
  open: (context: CommandContext, opened: AsyncDisposableStack) => Promise<Service>,
): Promise<void> {
  return serveUntilStopped(async (signal, opened, fail) => {
    const { failed } = await open(await openCommandContext('info', signal), opened)
    void failed.then(fail)
  })
}

/** The same for a service that reads no settings, so wrong ones do not stop it. It calls `fail` if it cannot go on. */
export async function serveUntilStopped(
  open: (signal: AbortSignal, opened: AsyncDisposableStack, fail: (error: Error) => void) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const stopped = Promise.withResolvers<void>()
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted)
    stop.abort(new Error('stopped'))
    stopped.resolve()
    setTimeout(endLate, END_WITHIN_MS).unref()
  }
  const fail = (error: Error) => {
    if (stop.signal.aborted) return
    process.exitCode = explain(error)
    onSignal()
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  try {
    await using opened = new AsyncDisposableStack()
    await open(stop.signal, opened, fail)
    await stopped.promise
  } catch (error) {
    // A signal during the start is not a failure.
    process.exitCode = isStop(error, stop.signal) ? EXIT.done : explain(error)
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal)
    // A connection to a queue that does not answer would keep the process running.
    setTimeout(exitOnceRead, CLOSE_WITHIN_MS, performance.now() + READ_WITHIN_MS).unref()
  }
}

function exitOnceRead(untilMs: number): void {
  const isRead = process.stdout.writableLength + process.stderr.writableLength === 0
  if (isRead || performance.now() >= untilMs) process.exit()
  setTimeout(exitOnceRead, 20, untilMs).unref()
}

/** Node's own functions wrap the reason in an AbortError. */
function isStop(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && error instanceof Error && (error.cause ?? error) === signal.reason
}

function endLate(): void {
  printAside('ferry: shutting down took too long; exiting now. Nothing is lost.')
  process.exit(EXIT.failed)
}
