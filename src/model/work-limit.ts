/** Runs `work` once fewer than the limit are running, first come, first served; rejects if `signal` aborts before that. */
export type WorkLimit = {
  <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Whether work would begin at once. */
  hasRoom(): boolean
}

/** Runs at most `max` at once. */
export function createWorkLimit(max: number): WorkLimit {
  let free = max
  const waiting = new Set<() => void>()

  function place(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const begin = () => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = () => {
      waiting.delete(begin)
      reject(signal?.reason)
    }
    waiting.add(begin)
    signal?.addEventListener('abort', giveUp, { once: true })
    return promise
  }

  async function limit<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (free > 0) free -= 1
    else await place(signal)
    try {
      return await work()
    } finally {
      const [next] = waiting
      if (next) {
        waiting.delete(next)
        next()
      } else free += 1
    }
  }
  return Object.assign(limit, { hasRoom: () => free > 0 })
}
