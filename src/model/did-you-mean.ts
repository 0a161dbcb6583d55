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

/** Returns `did you mean X?` with the nearest of `names`; null if none is near. */
export function didYouMean(asked: string, names: readonly string[]): string | null {
  const nearest = nearestOf(asked, names)
  return nearest === null ? null : `did you mean ${nearest}?`
}

/** Returns the nearest of `names`, in any case; null if none is near. A part of a name is near. */
export function nearestOf(asked: string, names: readonly string[]): string | null {
  const byLower = new Map(names.map(name => [name.toLowerCase(), name]))
  if (byLower.size === 0) return null
  const lower = asked.toLowerCase()
  const all = [...byLower.keys()]
  const parts = all.filter(name => isPart(lower, name) || isPart(name, lower))
  const nearest = closest(lower, parts.length > 0 ? parts : all)
  const isNear =
    parts.length > 0 || distance(lower, nearest) <= Math.max(lower.length, nearest.length) * MAX_SHARE
  return isNear ? (byLower.get(nearest) ?? null) : null
}

/** Shorter parts are in too many names. */
const MIN_PART = 4

function isPart(part: string, name: string): boolean {
  return part.length >= MIN_PART && name.includes(part)
}

function listed(names: readonly string[]): string {
  const once = [...new Set(names)]
  return [...once.slice(0, MAX_NAMES), ...(once.length > MAX_NAMES ? ['…'] : [])].join(', ')
}
