/** Functions of Node's JSON that TypeScript's types lack. */
const exactJson = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, at: { source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

/**
 * Reads JSON with exact integers: those that a double cannot hold become bigints. Throws SyntaxError.
 * Keys such as `__proto__` are plain data.
 */
export function parseJson(text: string): unknown {
  return exactJson.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  )
}

/**
 * Writes JSON as the platform does: bigints as digits, and without the fields that are null.
 * Lone surrogates and U+0000 are written as escapes.
 */
export function wireJson(value: unknown): string {
  return JSON.stringify(value, (_key, part) => {
    if (part === null) return undefined
    if (typeof part !== 'bigint') return part
    const number = Number(part)
    return Number.isSafeInteger(number) ? number : exactJson.rawJSON(String(part))
  })
}

/** Writes JSON for people and scripts: bigints as strings, because most readers would round them. */
export function stringIdsJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, part) => (typeof part === 'bigint' ? String(part) : part))
}
