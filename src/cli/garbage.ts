import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The first polls are over by then. */
const LATER_MS = 10_000

/** A pending garbage collection. `again` restarts the delay, even if it ran already. Disposing cancels it. */
export type GarbageCollection = Disposable & { again(): void }

/**
 * Gives back, a while from now, memory that was needed once: 16 of 160 MB after a start, 5 after pages of the console. A
 * worker that has little to do allocates too little for V8 to collect it by itself.
 */
export function collectGarbageLater(afterMs = LATER_MS): GarbageCollection {
  const timer = setTimeout(collectGarbage, afterMs).unref()
  return { again: () => void timer.refresh(), [Symbol.dispose]: () => clearTimeout(timer) }
}

/** Without a flag at start-up, Node has no other way to ask for it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: (options: object) => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
