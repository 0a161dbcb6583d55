import type { Controlled } from './controls.ts'
import { WORKING_DAY } from './mutate.ts'

/**
 * Makes one believable change every `everyMs`, going round a working day's mix: rules and servers are edited, fire, come
 * and go, and stay about as many. Ends when it is disposed of.
 */
export function openChanges(sandbox: Controlled, everyMs: number): Disposable {
  let made = 0
  const timer = setInterval(() => {
    const next = WORKING_DAY[made++ % WORKING_DAY.length]
    if (next !== undefined) sandbox.state.mutate(1, [next])
  }, everyMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
