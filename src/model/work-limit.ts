/** Runs `work` once fewer than the limit are running, first come, first served. */
export type WorkLimit = {
  <T>(work: () => Promise<T>): Promise<T>
  /** Whether work would begin at once. */
  hasRoom(): boolean
}

/** Runs at most `max` at once. */
export function createWorkLimit(max: number): WorkLimit {
  let free = max
  const waiting: (() => void)[] = []
  async function limit<T>(work: () => Promise<T>): Promise<T> {
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
  return Object.assign(limit, { hasRoom: () => free > 0 })
}
