import type { AdminTarget } from './admin-commands.ts'
import { WORKING_DAY } from './mutate.ts'

/**
 * Makes one change every `everyMs`, in the order of `WORKING_DAY`: rules and servers are edited, fire, are added and
 * removed, and their number stays about the same. Ends when disposed.
 */
export function openChanges(sandbox: AdminTarget, everyMs: number): Disposable {
  let made = 0
  const timer = setInterval(() => {
    const next = WORKING_DAY[made++ % WORKING_DAY.length]
    if (next !== undefined) sandbox.state.mutate(1, [next])
  }, everyMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
