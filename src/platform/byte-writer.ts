/** Of a longer part, to call `copy` takes less time than a loop. */
const MAX_LOOP_BYTES = 48

/** Bytes that are written one after the other, many times a few. Who writes knows that they have room. */
export class ByteWriter {
  readonly bytes: Buffer
  length = 0

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size)
  }

  put(byte: number): void {
    this.bytes[this.length++] = byte
  }

  int16(value: number): void {
    this.bytes[this.length] = value >> 8
    this.bytes[this.length + 1] = value
    this.length += 2
  }

  int32(value: number): void {
    this.bytes[this.length] = value >> 24
    this.bytes[this.length + 1] = value >> 16
    this.bytes[this.length + 2] = value >> 8
    this.bytes[this.length + 3] = value
    this.length += 4
  }

  add(source: Buffer, from: number, to: number): void {
    const { bytes, length } = this
    if (to - from > MAX_LOOP_BYTES) source.copy(bytes, length, from, to)
    else for (let at = from; at < to; at++) bytes[length + at - from] = source[at] as number
    this.length = length + to - from
  }
}
