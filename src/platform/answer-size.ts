/*
 * How much of an answer is taken into memory. A listing of 100,000 rules is 46 MB and has 2.5 million values. Bytes
 * alone bound nothing: 20 million rows of junk fit into 40 MB, and took 4.3 GB once parsed and set aside.
 */

export const MOST_BODY_BYTES = 256 * 1024 * 1024
export const MOST_ROWS = 1_000_000
/** Values of any kind, at any depth. */
export const MOST_VALUES = 16_000_000

/** What is said of an answer beyond a bound. */
export const TOO_MUCH = {
  bytes: 'it has more than 256 MiB',
  rows: 'it has more than 1,000,000 rows',
  values: 'it has more than 16,000,000 values',
} as const

const COMMA = ','.charCodeAt(0)
const BRACKET = '['.charCodeAt(0)
const BRACE = '{'.charCodeAt(0)

/**
 * Says whether parsing a body might give more than `MOST_VALUES`. Each value but the first has a comma or an opening
 * bracket before it, so these are counted; those within strings too, which only errs on the safe side.
 */
export function mayHoldTooMany(body: Buffer): boolean {
  if (body.length <= MOST_VALUES) return false
  let values = 1
  for (const byte of body) if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1
  return values > MOST_VALUES
}
