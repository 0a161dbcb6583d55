/** How many jobs of each account are under way in this worker. */
export type Capacity = {
  /** Returns a function that ends the job, or null if the account has reached its maximum. */
  take(account: string): (() => void) | null
}

export function createCapacity(perAccount: number): Capacity {
  const taken = new Map<string, number>()
  return {
    take(account) {
      const before = taken.get(account) ?? 0
      if (before >= perAccount) return null
      taken.set(account, before + 1)
      return () => {
        const now = taken.get(account) ?? 1
        if (now > 1) taken.set(account, now - 1)
        else taken.delete(account)
      }
    },
  }
}
