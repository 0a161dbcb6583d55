import { counted } from '#src/model/counted.ts'
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './ascii.ts'
import { AnswerTooLarge, MAX_ANSWER_BYTES, MAX_ROW_BYTES, TOO_MUCH } from './read-body.ts'
import { RowGuess } from './row-guess.ts'

/** Where the scanner is: around the rows, between two of them, or in one. */
type Place = 'around' | 'between' | 'in row'
/** What may come between two rows. */
type Expected = 'row or end' | 'row' | 'comma or end'

export type RowHandler = {
  /** The member that holds the rows begins. A JSON text may have it twice; then the last one counts, and rows before it do not. */
  restart(): void
  /**
   * Takes the text of one row, or null if it is longer than `MAX_ROW_BYTES`. The buffer may be a part of the chunk.
   *
   * Returns false if the text is not JSON, and takes nothing then. It may be tried first with a text that ends elsewhere
   * than the row: that is an object cut short, or one with more behind it, and never JSON.
   */
  row(text: Buffer | null): boolean
}

/**
 * Finds the rows of a listing in the bytes of its JSON, however these are cut into chunks, and keeps one row at a time.
 *
 * The rows are the elements of the array at `path` (`['data']`, or `['data', 'servers']`). The envelope is kept, with an empty
 * array in place of the rows. It is valid JSON if and only if the whole was, apart from the rows: only the handler knows
 * whether a row is valid.
 */
export class RowScanner {
  readonly #path: readonly string[]
  readonly #handler: RowHandler
  #place: Place = 'around'
  #isBroken = false

  /** The envelope. */
  readonly #around: Buffer[] = []
  #aroundBytes = 0
  /** The last key of each open container; `null` in an array, or before the first key. */
  readonly #keys: (string | null)[] = []
  /** The string that is open, or was the last one. */
  #string: Buffer[] = []

  #expected: Expected = 'row or end'
  /** How many rows were taken, and how many bytes come before what is read now. */
  #rows = 0
  #bytesBefore = 0
  /** How many bytes earlier chunks had. */
  #bytesRead = 0
  /** The beginning of a row that earlier chunks had. Null once the row is too long. */
  #begun: Buffer[] | null = []
  #begunBytes = 0
  /** Open brackets and braces of the row. */
  #depth = 0
  #isBare = false

  #inString = false
  #isEscaped = false

  constructor(path: readonly string[], handler: RowHandler) {
    this.#path = path
    this.#handler = handler
  }

  /** Returns false if the text can no longer become valid. */
  write(chunk: Buffer): boolean {
    const guess = new RowGuess(chunk)
    let at = 0
    while (at < chunk.length && !this.#isBroken) {
      if (this.#place === 'around') at = this.#lookForRows(chunk, at)
      else if (this.#place === 'between') at = this.#lookForRow(chunk, at, guess)
      else at = this.#readRow(chunk, at)
    }
    this.#bytesRead += chunk.length
    return !this.#isBroken
  }

  /** Returns what is around the rows, with `[]` in their place. Empty if the text was broken at or between rows. */
  end(): Buffer {
    return this.#isBroken || this.#place !== 'around' ? Buffer.alloc(0) : Buffer.concat(this.#around)
  }

  /** Says where the text was broken at or between rows, as part of a sentence. Null if it was not. */
  damage(): string | null {
    if (!this.#isBroken && this.#place === 'around') return null
    return `${counted(this.#rows, 'row of the list is', 'rows of the list are')} whole, and what follows after ${counted(this.#bytesBefore, 'byte')} (unpacked) is damaged or cut off`
  }

  /** Reads the envelope, up to the first byte of the rows. */
  #lookForRows(chunk: Buffer, from: number): number {
    let stringFrom = this.#inString ? from : -1
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) {
          this.#inString = false
          this.#string.push(Buffer.from(chunk.subarray(stringFrom, at)))
        }
      } else if (byte === QUOTE) {
        this.#inString = true
        this.#string = []
        stringFrom = at + 1
      } else if (byte === COLON) {
        this.#keys[this.#keys.length - 1] = decodedKey(this.#string)
        this.#string = [] // so that each string is decoded once
        if (this.#isAtPath()) {
          this.#rows = 0
          this.#handler.restart()
        }
      } else if (byte === OPEN_BRACKET && this.#isAtPath()) {
        this.#keep(chunk.subarray(from, at + 1))
        this.#keys.push(null)
        this.#place = 'between'
        this.#expected = 'row or end'
        return at + 1
      } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) this.#keys.push(null)
      else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) this.#keys.pop()
    }
    if (this.#inString) this.#string.push(Buffer.from(chunk.subarray(stringFrom)))
    this.#keep(chunk.subarray(from))
    return chunk.length
  }

  #isAtPath(): boolean {
    return this.#keys.length === this.#path.length && this.#path.every((key, n) => this.#keys[n] === key)
  }

  #keep(bytes: Buffer): void {
    this.#aroundBytes += bytes.length
    if (this.#aroundBytes > MAX_ANSWER_BYTES) throw new AnswerTooLarge(TOO_MUCH.bytes)
    this.#around.push(Buffer.from(bytes))
  }

  /** Reads what is between two rows, and the next one if its end can be guessed; or up to the end of the array. */
  #lookForRow(chunk: Buffer, from: number, guess: RowGuess): number {
    let at = from
    while (isSpace(chunk[at])) at++
    this.#bytesBefore = this.#bytesRead + at
    const byte = chunk[at]
    if (byte === undefined) return at
    if (byte === CLOSE_BRACKET && this.#expected !== 'row') {
      this.#place = 'around'
      return at // kept with what comes after the rows
    }
    if (this.#expected === 'comma or end') {
      this.#isBroken = byte !== COMMA
      this.#expected = 'row'
      return at + 1
    }
    this.#isBroken = byte === COMMA || byte === CLOSE_BRACKET
    const guessed = guess.endOf(at)
    if (guessed !== -1 && guessed - at <= MAX_ROW_BYTES) {
      this.#expected = 'comma or end'
      if (this.#handler.row(chunk.subarray(at, guessed))) return this.#rowEndsAt(guessed)
      guess.stop()
    }
    this.#place = 'in row'
    this.#begun = []
    this.#begunBytes = 0
    this.#depth = 0
    this.#isBare = byte !== OPEN_BRACE && byte !== OPEN_BRACKET && byte !== QUOTE
    return at
  }

  /** Reads a row, or as much of it as this chunk has. */
  #readRow(chunk: Buffer, from: number): number {
    const end = this.#isBare ? endOfBareValue(chunk, from) : this.#endOfRow(chunk, from)
    this.#begunBytes += (end === -1 ? chunk.length : end) - from
    if (this.#begunBytes > MAX_ANSWER_BYTES) this.#begun = null
    if (end === -1) {
      this.#begun?.push(Buffer.from(chunk.subarray(from)))
      return chunk.length
    }
    this.#isBroken = !this.#take(this.#textOfRow(chunk.subarray(from, end)))
    this.#place = 'between'
    this.#expected = 'comma or end'
    return this.#isBroken ? end : this.#rowEndsAt(end)
  }

  #rowEndsAt(end: number): number {
    this.#rows++
    this.#bytesBefore = this.#bytesRead + end
    return end
  }

  /** A row that is too long is not a row, but damage in it is damage of the listing. */
  #take(text: Buffer | null): boolean {
    if (text === null || text.length <= MAX_ROW_BYTES) return this.#handler.row(text)
    return isJsonText(text) && this.#handler.row(null)
  }

  /** Null if the row is so long that it was not kept. */
  #textOfRow(last: Buffer): Buffer | null {
    if (this.#begun === null) return null
    return this.#begun.length === 0 ? last : Buffer.concat([...this.#begun, last])
  }

  /** Returns where the row ends in this chunk, or -1. Most bytes of a listing may pass here, so fields are kept in variables. */
  #endOfRow(chunk: Buffer, from: number): number {
    const { length } = chunk
    let depth = this.#depth
    let inString = this.#inString
    let at = from
    if (this.#isEscaped) {
      this.#isEscaped = false
      at++
    }
    // No byte is read beyond the chunk: one such access makes V8 read all of them more slowly.
    scan: while (at < length) {
      while (inString && at < length) {
        const byte = chunk[at++]
        if (byte === QUOTE) inString = false
        else if (byte === BACKSLASH) at++
      }
      if (depth === 0 && !inString && at > from) break
      while (at < length) {
        const byte = chunk[at++] as number
        if (byte === QUOTE) {
          inString = true
          break
        }
        if (byte < OPEN_BRACKET) continue
        if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
        else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
          depth--
          if (depth === 0) break scan
        }
      }
    }
    this.#depth = depth
    this.#inString = inString
    this.#isEscaped = at > length
    return depth === 0 && !inString ? at : -1
  }
}

/** Returns where a number or a literal ends, or -1. */
function endOfBareValue(chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at]
    if (byte === COMMA || byte === CLOSE_BRACKET || isSpace(byte)) return at
  }
  return -1
}

function isJsonText(text: Buffer): boolean {
  try {
    JSON.parse(text.toString('utf8'))
    return true
  } catch {
    return false
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** The text of a key: two spellings of one key are the same key. Null if it is not valid JSON. */
function decodedKey(pieces: readonly Buffer[]): string | null {
  try {
    return JSON.parse(`"${Buffer.concat(pieces).toString('utf8')}"`)
  } catch {
    return null
  }
}
