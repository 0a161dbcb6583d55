/*
 * One record of a CSV, strictly by RFC 4180: a quote opens a field only as its first character, and what follows a closing
 * quote is a delimiter or the end of the line.
 */

/** Where the fields of the last scanned record are in its text. One object is used for all records. */
export type Fields = {
  /** How many there are; those beyond the length of the arrays are only counted. */
  count: number
  /** Where the next record begins, or where the fault is. */
  end: number
  /** Whether any of them is quoted: only quoted fields can have several lines. */
  quoted: boolean
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly kinds: Uint8Array
}

/** What ends a scan before the end of the record. `open` is a quote that is not closed in this text. */
export type QuoteFault = 'open' | 'quote in a field' | 'text after a quote'

const PLAIN = 0
const QUOTED = 1
const WITH_QUOTES = 2

const LF = 10
const CR = 13
const QUOTE = 34

export function fieldsFor(width: number): Fields {
  return {
    count: 0,
    end: 0,
    quoted: false,
    starts: new Int32Array(width),
    ends: new Int32Array(width),
    kinds: new Uint8Array(width),
  }
}

/** Scans the record that begins at `from` into `fields`. Returns what is wrong with it, or null. */
export function scanRecord(text: string, from: number, delimiter: number, fields: Fields): QuoteFault | null {
  const { starts, ends, kinds } = fields
  const length = text.length
  let at = from
  let n = 0
  fields.quoted = false
  for (;;) {
    let start = at
    let end: number
    let kind = PLAIN
    let stop: number
    if (text.charCodeAt(at) === QUOTE) {
      start = at + 1
      kind = QUOTED
      fields.quoted = true
      end = text.indexOf('"', start)
      while (end !== -1 && text.charCodeAt(end + 1) === QUOTE) {
        kind = WITH_QUOTES
        end = text.indexOf('"', end + 2)
      }
      if (end === -1) {
        fields.end = length
        return 'open'
      }
      at = end + 1
      stop = text.charCodeAt(at)
      if (stop === CR && (at + 1 === length || text.charCodeAt(at + 1) === LF)) stop = text.charCodeAt(++at)
      if (stop !== delimiter && stop !== LF && at < length) {
        fields.end = at
        return 'text after a quote'
      }
    } else {
      stop = text.charCodeAt(at)
      while (stop !== delimiter && stop !== LF && at < length) {
        if (stop === QUOTE) {
          fields.end = at
          return 'quote in a field'
        }
        stop = text.charCodeAt(++at)
      }
      end = stop !== delimiter && at > start && text.charCodeAt(at - 1) === CR ? at - 1 : at
    }
    if (n < starts.length) {
      starts[n] = start
      ends[n] = end
      kinds[n] = kind
    }
    n++
    at++
    if (stop !== delimiter || at > length) break
  }
  fields.count = n
  fields.end = Math.min(at, length)
  return null
}

/** Returns the value of a field of the last scanned record. */
export function fieldAt(text: string, fields: Fields, n: number): string {
  const value = text.slice(fields.starts[n], fields.ends[n])
  return fields.kinds[n] === WITH_QUOTES ? value.replaceAll('""', '"') : value
}

/** Returns all values of the one record in `text`; null if the record is damaged. */
export function parseRecord(text: string, delimiter: string): string[] | null {
  // A record has at most one field more than characters.
  const fields = fieldsFor(text.length + 1)
  if (scanRecord(text, 0, delimiter.charCodeAt(0), fields) !== null || fields.end < text.length) return null
  return Array.from({ length: fields.count }, (_, n) => fieldAt(text, fields, n))
}
