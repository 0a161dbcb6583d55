import type { OldRows } from '#src/db/prune.ts'

export const DAY_MS = 86_400_000

const NEVER = new AbortController().signal

/** Removes old rows as the job does. They must be as many as were counted before. Returns how many they were. */
export async function removeOld(old: OldRows): Promise<number> {
  const counted = await old.count()
  const removed = await old.remove(NEVER)
  if (removed !== counted) throw new Error(`${removed} rows of ${old.table} were removed, ${counted} counted`)
  return removed
}
