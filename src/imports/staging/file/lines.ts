import { isUtf8 } from 'node:buffer'

/** The faults that a line of any format may have. */
export type Damage = 'line too long' | 'not UTF-8' | 'NUL byte'

/** Some whole lines of a file, each with its newline (the last line of the file may have none). */
export type Block = {
  readonly text: string
  /** By the number of the line in the block, from 0. */
  readonly damaged: ReadonlyMap<number, Damage>
  readonly last: boolean
}

/** In bytes. A longer line is not a subscriber: it is damaged, and only its beginning is kept. */
export const LONGEST_LINE = 64 * 1024
const KEPT_OF_LONG_LINE = 1024

const NEWLINE = 10
const NONE: ReadonlyMap<number, Damage> = new Map()

/** Yields the lines of a file in blocks, without the byte order mark. Memory grows neither with the file nor with a line. */
export async function* readBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  let open: Buffer = Buffer.alloc(0)
  let tooLong = false
  let first = true
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end === 0) {
      ;({ open, tooLong } = lengthened(open, chunk, tooLong))
      continue
    }
    const bytes = joined(open, chunk.subarray(0, end))
    yield blockOf(first ? withoutMark(bytes) : bytes, tooLong, false)
    first = false
    ;({ open, tooLong } = lengthened(Buffer.alloc(0), Buffer.from(chunk.subarray(end)), false))
  }
  yield blockOf(first ? withoutMark(open) : open, tooLong, true)
}

/** The unfinished line at the end of what was read, with more of it. */
function lengthened(open: Buffer, more: Buffer, tooLong: boolean): { open: Buffer; tooLong: boolean } {
  const line = joined(open, more)
  return tooLong || line.length > LONGEST_LINE
    ? { open: shortened(line), tooLong: true }
    : { open: line, tooLong: false }
}

function joined(open: Buffer, rest: Buffer): Buffer {
  return open.length === 0 ? rest : Buffer.concat([open, rest])
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

/** `firstTooLong`: the first line was too long and has been shortened. */
function blockOf(bytes: Buffer, firstTooLong: boolean, last: boolean): Block {
  if (!firstTooLong && isUtf8(bytes) && !bytes.includes(0) && !hasLongLine(bytes)) {
    return { text: bytes.toString('utf8'), damaged: NONE, last }
  }
  const damaged = new Map<number, Damage>()
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline === -1 ? bytes.length : newline + 1
    const line = bytes.subarray(at, end)
    const damage = firstTooLong && at === 0 ? 'line too long' : damageOf(line)
    if (damage) damaged.set(lines.length, damage)
    lines.push(damage === 'line too long' ? shortened(line) : line)
    at = end
  }
  return { text: Buffer.concat(lines).toString('utf8'), damaged, last }
}

/** Every line longer than the bound contains one of these places. */
function hasLongLine(bytes: Buffer): boolean {
  for (let at = LONGEST_LINE; at < bytes.length; at += LONGEST_LINE) {
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline === -1 ? bytes.length : newline
    if (end - bytes.lastIndexOf(NEWLINE, at - 1) - 1 > LONGEST_LINE) return true
  }
  return false
}

function damageOf(line: Buffer): Damage | undefined {
  if (line.length > LONGEST_LINE + 1) return 'line too long'
  if (line.includes(0)) return 'NUL byte'
  return isUtf8(line) ? undefined : 'not UTF-8'
}

/** The beginning of a line. A quote is closed if it was: a cell that is cut off would enclose the lines below. */
function shortened(line: Buffer): Buffer {
  const isOdd = countIn(line, '"', KEPT_OF_LONG_LINE, line.length) % 2 === 1
  const end = line.at(-1) === NEWLINE ? '\n' : ''
  return Buffer.concat([line.subarray(0, KEPT_OF_LONG_LINE), Buffer.from(`${isOdd ? '"' : ''}${end}`)])
}

/** How often a character of ASCII stands between two places of a text, or of its bytes. */
export function countIn(text: string | Buffer, character: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf(character, from); at !== -1 && at < to; at = text.indexOf(character, at + 1))
    count++
  return count
}

/** Reads the blocks of a file one after the other. */
export type Reader = { read(block: Block): void }

/** Takes the rows of a reader. Lines are counted from 1. */
export type Sink = {
  /**
   * Takes a row: the values of the fields asked for, in their order, undefined for a field that the file does not have. The
   * array is used again for the next row.
   */
  row(line: number, values: readonly unknown[], raw: string): void
  /** Returns the field for which such a row would be rejected; null if it would not be. Takes no row. */
  faultOf(values: readonly unknown[]): number | null
  /** Takes a record that is not a row, and the line it begins on. */
  damaged(line: number, reason: string, message: string, raw: string): void
}

export const DAMAGE_IN_WORDS: Readonly<Record<Damage, string>> = {
  'line too long': `the line is longer than ${LONGEST_LINE} bytes; only its beginning was kept`,
  'not UTF-8': 'the line is not UTF-8 text',
  'NUL byte': 'the line contains a NUL byte',
}
