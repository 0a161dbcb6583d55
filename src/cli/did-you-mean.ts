import { closest, distance } from 'fastest-levenshtein'

/** A word that differs in more than this share of its characters is another word. */
const MAX_SHARE = 0.5

/** Returns `did you mean X?` with the nearest of `names`, in any case; null if none is near. */
export function didYouMean(text: string, names: readonly string[]): string | null {
  const byLower = new Map(names.map(name => [name.toLowerCase(), name]))
  if (byLower.size === 0) return null
  const lower = text.toLowerCase()
  const nearest = closest(lower, [...byLower.keys()])
  const isNear = distance(lower, nearest) <= Math.max(lower.length, nearest.length) * MAX_SHARE
  return isNear ? `did you mean ${byLower.get(nearest)}?` : null
}
