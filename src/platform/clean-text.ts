/*
 * Postgres cannot hold U+0000, nor a lone surrogate in text or jsonb. The platform may send both, in any string and any key.
 * They are replaced by visible characters, and the caller learns which fields were altered.
 */

const NUL_REPLACEMENT = '\u2400'

/** Returns whether `json` may contain a string that `cleanText` would alter. Most bodies do not, and need no further check. */
export function mayNeedCleaning(json: string): boolean {
  return json.includes('\\u') && /\\u(?:0000|[dD][89a-fA-F])/.test(json)
}

/**
 * Returns `value` with U+0000 replaced by U+2400 and lone surrogates by U+FFFD in every string and key, and the paths
 * (`labels.team`, `tools[0].name`) of what was altered. Returns the same object if nothing was.
 *
 * Keys that would become equal stay different: the altered key gets another U+2400. The result does not depend on the order
 * of the keys, because equal content must give equal rows.
 */
export function cleanText<T>(value: T): { readonly value: T; readonly altered: readonly string[] } {
  if (!isDirty(value)) return { value, altered: [] }
  const altered: string[] = []
  const clean = cleanAt(value, '', altered) as T
  return { value: clean, altered: [...new Set(altered)] }
}

/** Returns `text` with U+0000 and lone surrogates replaced. */
export function cleanString(text: string): string {
  return text.toWellFormed().replaceAll('\0', NUL_REPLACEMENT)
}

/** Checks without building anything, so that clean rows cost little. */
function isDirty(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed() || value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(isDirty)
  for (const key in value) {
    if (isDirty(key) || isDirty((value as Record<string, unknown>)[key])) return true
  }
  return false
}

function cleanAt(value: unknown, path: string, altered: string[]): unknown {
  if (typeof value === 'string') {
    const clean = cleanString(value)
    if (clean !== value) altered.push(path)
    return clean
  }
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value)
    ? value.map((item, index) => cleanAt(item, `${path}[${index}]`, altered))
    : cleanObject(value as Record<string, unknown>, path, altered)
}

function cleanObject(value: Record<string, unknown>, path: string, altered: string[]): unknown {
  const names = cleanKeys(Object.keys(value))
  // fromEntries defines members, so `__proto__` stays a member like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const name = names.get(key) ?? key
      const at = path === '' ? name : `${path}.${name}`
      if (name !== key) altered.push(at)
      return [name, cleanAt(member, at, altered)]
    }),
  )
}

/** Returns the new names of the keys that must be altered. */
function cleanKeys(keys: readonly string[]): Map<string, string> {
  const names = new Map<string, string>()
  const dirty = keys.filter(key => cleanString(key) !== key)
  if (dirty.length === 0) return names
  const taken = new Set(keys)
  for (const key of dirty.sort()) {
    let name = cleanString(key)
    while (taken.has(name)) name += NUL_REPLACEMENT
    taken.add(name)
    names.set(key, name)
  }
  return names
}
