import { setTimeout as delay } from 'node:timers/promises'

export type PermitSource<Call, Permit> = {
  /**
   * Acquires permits for the first of `calls`, and says how long to wait before the others are asked for. Need not go on
   * trying once `signal` has aborted.
   */
  acquirePermits(
    calls: readonly Call[],
    signal: AbortSignal,
  ): Promise<{ readonly permits: readonly Permit[]; readonly waitMs: number }>
  /** Returns a permit whose caller has given up. Must not reject. */
  returnUnused(permit: Permit): Promise<void>
}

/**
 * Opens the queue of the callers of one process that wait for permits of one limit, first come first served. They ask
 * together: when a window has room for fifty calls, all fifty go out after one round trip to the database.
 *
 * The function that it returns waits for one permit. It rejects with the signal's reason as soon as `signal` aborts: who
 * gives up need not wait for the others, and no permit is held then.
 */
export function openPermitQueue<Call, Permit>({ acquirePermits, returnUnused }: PermitSource<Call, Permit>) {
  type Waiter = PromiseWithResolvers<Permit> & { readonly call: Call }
  const waiting = new Set<Waiter>()
  let isServing = false
  let allGaveUp = new AbortController()

  async function serve(): Promise<void> {
    isServing = true
    await Promise.resolve() // so that all who come at the same moment ask together
    while (waiting.size > 0) {
      allGaveUp = new AbortController()
      await serveRound([...waiting], allGaveUp.signal)
    }
    isServing = false
  }

  async function serveRound(asking: readonly Waiter[], signal: AbortSignal): Promise<void> {
    try {
      const calls = asking.map(({ call }) => call)
      const { permits, waitMs } = await acquirePermits(calls, signal)
      const unused = permits.filter((permit, n) => !give(asking[n], permit))
      await Promise.all(unused.map(returnUnused))
      const isRoomLeft = permits.length === asking.length || unused.length > 0
      if (!isRoomLeft) await delay(waitMs, undefined, { signal })
    } catch (error) {
      for (const waiter of asking) if (waiting.delete(waiter)) waiter.reject(error)
    }
  }

  function give(waiter: Waiter | undefined, permit: Permit): boolean {
    if (waiter === undefined || !waiting.delete(waiter)) return false
    waiter.resolve(permit)
    return true
  }

  return (call: Call, signal: AbortSignal): Promise<Permit> => {
    if (signal.aborted) return Promise.reject(signal.reason)
    const waiter = { ...Promise.withResolvers<Permit>(), call }
    const giveUp = () => {
      waiting.delete(waiter)
      waiter.reject(signal.reason)
      if (waiting.size === 0) allGaveUp.abort()
    }
    signal.addEventListener('abort', giveUp, { once: true })
    waiting.add(waiter)
    if (!isServing) void serve()
    return waiter.promise.finally(() => signal.removeEventListener('abort', giveUp))
  }
}

/**
 * Returns a function that has one item worked on. `work` runs once at a time: items that come while it runs are worked on
 * together after it. The promise for an item settles as the `work` that it was part of.
 */
export function gather<Item>(work: (items: readonly Item[]) => Promise<void>): (item: Item) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Gathered<Item> | null = null

  function open(): Gathered<Item> {
    const items: Item[] = []
    const done = last.then(() => {
      next = null
      return work(items)
    })
    last = done.catch(() => {})
    return { items, done }
  }

  return item => {
    next ??= open()
    next.items.push(item)
    return next.done
  }
}

type Gathered<Item> = { readonly items: Item[]; readonly done: Promise<void> }
