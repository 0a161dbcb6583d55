import { closest, distance } from 'fastest-levenshtein'

/** A word that differs in more than this share of its characters is another word. */
const MAX_SHARE = 0.5

/** A message lists no more names than this. */
const MAX_NAMES = 20

/**
 * Says what is wrong with a name that does not exist: `is not an account; did you mean default?`. If none of `names` is near, it
 * lists them. `kind` is written with its article.
 */
export function isNot(kind: string, asked: string, names: readonly string[]): string {
  if (names.length === 0) return `is not ${kind}; there is none`
  return `is not ${kind}; ${didYouMean(asked, names) ?? `known: ${listed(names)}`}`
}

/** Returns `did you mean X?` with the nearest of `names`, in any case; null if none is near. */
export function didYouMean(asked: string, names: readonly string[]): string | null {
  const byLower = new Map(names.map(name => [name.toLowerCase(), name]))
  if (byLower.size === 0) return null
  const lower = asked.toLowerCase()
  const nearest = closest(lower, [...byLower.keys()])
  const isNear = distance(lower, nearest) <= Math.max(lower.length, nearest.length) * MAX_SHARE
  return isNear ? `did you mean ${byLower.get(nearest)}?` : null
}

function listed(names: readonly string[]): string {
  const once = [...new Set(names)]
  return [...once.slice(0, MAX_NAMES), ...(once.length > MAX_NAMES ? ['…'] : [])].join(', ')
}
