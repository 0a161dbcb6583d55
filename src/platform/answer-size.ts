/*
 * How much of an answer Ferry takes into memory. A listing of 100,000 rules is 46 MB and has 2.5 million values. A limit
 * of bytes alone is not enough: 20 million rows of junk fit into 40 MB, and took 4.3 GB when parsed and quarantined.
 */

export const MAX_BODY_BYTES = 256 * 1024 * 1024
export const MAX_ROWS = 1_000_000
/** Values of any kind, at any depth. */
export const MAX_VALUES = 16_000_000

/** The words for an answer beyond each bound. */
export const TOO_MUCH = {
  bytes: 'it has more than 256 MiB',
  rows: 'it has more than 1,000,000 rows',
  values: 'it has more than 16,000,000 values',
} as const

const COMMA = ','.charCodeAt(0)
const BRACKET = '['.charCodeAt(0)
const BRACE = '{'.charCodeAt(0)

/**
 * Returns whether a body might hold more than `MAX_VALUES` values, without parsing it. Every value but the first follows a
 * comma or an opening bracket, so these are counted. Those inside strings count too, which can only make the result too
 * large.
 */
export function mayHoldTooMany(body: Buffer): boolean {
  if (body.length <= MAX_VALUES) return false
  let values = 1
  for (const byte of body) if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1
  return values > MAX_VALUES
}
