import { createHash } from 'node:crypto'

/** How many bytes at either end of a body are searched for the envelope's `request_id`. */
const SEARCH_BYTES = 512
/** Matches a value of plain characters: without it, the meaning of the rest of the JSON does not change. */
const REQUEST_ID = /"request_id"\s*:\s*"([ !#-[\]-~]*)"/

/**
 * Returns a hash of a listing's body without the value of the envelope's `request_id`, and that value. It recognises the
 * same data without parsing it. Returns null if the value is not in a place where it cannot be part of the data.
 *
 * The data of a listing is an array: a valid body has only its envelope before the first `[` and after the last `]`. So if
 * two bodies have equal hashes and one is a valid listing, the other one is valid too and has the same data.
 */
export function dataHash(body: Buffer): { readonly hash: string; readonly requestId: string } | null {
  const first = body.indexOf('[')
  const last = body.lastIndexOf(']')
  if (first === -1 || last < first) return null
  const tailAt = Math.max(last, body.length - SEARCH_BYTES)
  return hashWithout(body, 0, Math.min(first, SEARCH_BYTES)) ?? hashWithout(body, tailAt, body.length)
}

function hashWithout(body: Buffer, from: number, to: number) {
  // latin1 has one character for each byte, so positions are the same.
  const found = REQUEST_ID.exec(body.toString('latin1', from, to))
  if (!found) return null
  const requestId = found[1] ?? ''
  const end = from + found.index + found[0].length - 1
  const hash = createHash('sha256')
    .update(body.subarray(0, end - requestId.length))
    .update(body.subarray(end))
  return { hash: hash.digest('hex'), requestId }
}
