import { createHash } from 'node:crypto'

/** How far from either end of a body the envelope's `request_id` is looked for. */
const REACH = 512
/** A value of plain characters: whatever it is replaced by, the rest of the JSON means what it meant. */
const REQUEST_ID = /"request_id"\s*:\s*"([ !#-[\]-~]*)"/

/**
 * Returns a hash of a listing's body without the value of the envelope's `request_id`, and that value, so that the
 * same data is known again without parsing it. Null if the value is not where it can be told from the data.
 *
 * The data of a listing is an array: before the first `[` and after the last `]` of a valid body there is only
 * envelope. So of two bodies with equal hashes, if one is a valid listing, the other is one too and has the same data.
 */
export function dataHash(body: Buffer): { readonly hash: string; readonly requestId: string } | null {
  const first = body.indexOf('[')
  const last = body.lastIndexOf(']')
  if (first === -1 || last < first) return null
  const tailAt = Math.max(last, body.length - REACH)
  return hashWithout(body, 0, Math.min(first, REACH)) ?? hashWithout(body, tailAt, body.length)
}

function hashWithout(body: Buffer, from: number, to: number) {
  // latin1: one character a byte, so that positions agree.
  const found = REQUEST_ID.exec(body.toString('latin1', from, to))
  if (!found) return null
  const requestId = found[1] ?? ''
  const end = from + found.index + found[0].length - 1
  const hash = createHash('sha256')
    .update(body.subarray(0, end - requestId.length))
    .update(body.subarray(end))
  return { hash: hash.digest('hex'), requestId }
}
