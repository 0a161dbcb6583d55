/*
 * Rows in COPY's binary format (https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"): Postgres takes
 * them in faster than text, and no string is made of them that is thrown away at once.
 */

const NULL = -1
const TEXT_OID = 25
/** The most bytes of UTF-8 that one character of a JavaScript string takes. */
const BYTES_A_CHARACTER = 3

/** Returns what each row begins with: the number of columns, and the int8 that is the first of them, if any. */
export function rowStart(columns: number, first?: bigint): Buffer {
  const start = Buffer.alloc(first === undefined ? 2 : 14)
  start.writeInt16BE(columns)
  if (first !== undefined) start.writeBigInt64BE(first, start.writeInt32BE(8, 2))
  return start
}

/** Gathers rows in two buffers that are used in turns and grow as needed. */
export class BinaryRows {
  #buffer: Buffer
  #other: Buffer | null = null
  #at = 0

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size)
  }

  /** How many bytes have been gathered. */
  get size(): number {
    return this.#at
  }

  /** Begins a row with what `rowStart` returned. */
  begin(start: Buffer): void {
    this.#room(start.length)
    this.#at += start.copy(this.#buffer, this.#at)
  }

  /** A number that int8 holds and JavaScript exactly. */
  integer(value: number): void {
    this.#room(12)
    this.#int32(8)
    this.#int32(Math.floor(value / 2 ** 32))
    this.#int32((value % 2 ** 32) | 0)
  }

  boolean(value: boolean): void {
    this.#room(5)
    this.#int32(1)
    this.#at = this.#buffer.writeUInt8(value ? 1 : 0, this.#at)
  }

  text(value: string | null): void {
    this.#room(4 + BYTES_A_CHARACTER * (value?.length ?? 0))
    const bytes = value === null ? 0 : this.#buffer.write(value, this.#at + 4, 'utf8')
    this.#int32(value === null ? NULL : bytes)
    this.#at += bytes
  }

  /** 16 bytes, as the characters of a latin1 string. */
  uuid(bytes: string | null): void {
    this.#room(20)
    this.#int32(bytes === null ? NULL : 16)
    if (bytes !== null) this.#at += this.#buffer.write(bytes, this.#at, 16, 'latin1')
  }

  /** Null for none. */
  texts(values: readonly string[]): void {
    this.#room(28)
    const length = this.#at
    this.#int32(NULL)
    if (values.length === 0) return
    for (const word of [1, 0, TEXT_OID, values.length, 1]) this.#int32(word)
    for (const value of values) this.text(value)
    this.#buffer.writeInt32BE(this.#at - length - 4, length)
  }

  /** Columns that are in this format already, as the characters of a latin1 string. */
  columns(bytes: string): void {
    this.#room(bytes.length)
    this.#at += this.#buffer.write(bytes, this.#at, 'latin1')
  }

  /** Returns what has been gathered. The buffer is valid until the next but one call. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#at)
    const other = this.#other ?? Buffer.allocUnsafe(this.#buffer.length)
    this.#other = this.#buffer
    this.#buffer = other
    this.#at = 0
    return taken
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }

  #int32(value: number): void {
    this.#at = this.#buffer.writeInt32BE(value, this.#at)
  }
}
