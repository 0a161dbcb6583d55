/** Runs `work` once fewer than the limit are running, first come, first served. */
export type WorkLimit = <T>(work: () => Promise<T>) => Promise<T>

/** Runs at most `max` at once. */
export function createWorkLimit(max: number): WorkLimit {
  let free = max
  const waiting: (() => void)[] = []
  return async work => {
    if (free > 0) free -= 1
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
