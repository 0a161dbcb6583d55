import { areSame, readBytes, WORDS } from './byte-words.ts'
import type { ListedRows, Recalled, RowState } from './listed-rows.ts'
import { SlotIndex } from './slot-index.ts'

/** A row, the words of its digest and of its fingerprint, and whether it fires. */
const LEARNED = 1 + WORDS + WORDS + 1
const FIRST_CAPACITY = 1024

/**
 * The rows of one inventory whose ids are integers of 64 bits. It takes 45 bytes a row, and 16 for finding it, outside of
 * the heap: as objects, the rows of a large account would cost five times as much, and time at each garbage collection.
 */
export class RowTable implements ListedRows {
  #rows = 0
  /** The low and the high half of each id: a bigint would be made for each comparison. */
  #ids = new Uint32Array(FIRST_CAPACITY * 2)
  /** The part that listed the row last. */
  #parts = new Uint32Array(FIRST_CAPACITY)
  /** The digest of the row's text, as many bits as a fingerprint has; zeros if it is not known. */
  #digests = new Uint32Array(FIRST_CAPACITY * WORDS)
  /** The row's fingerprint; zeros if it is not known. */
  #fingerprints = new Uint32Array(FIRST_CAPACITY * WORDS)
  #firing = new Uint8Array(FIRST_CAPACITY)
  readonly #byId = new SlotIndex(row => hashOf(this.#ids, row))
  readonly #byDigest = new SlotIndex(row =>
    isSet(this.#digests, row) ? (this.#digests[row * WORDS] ?? 0) : null,
  )

  #part = 0
  #firstPart = 0
  readonly #discarded = new Set<number>()
  /** What was learned in this run, see `LEARNED`. */
  #learned = new Uint32Array(FIRST_CAPACITY * LEARNED)
  #learnedLength = 0
  /** What parts before the one under way learned. */
  #learnedBefore = 0
  #hasAllCurrent = false
  /** Rows that are no longer current. They are few: see `commit`. */
  readonly #removed = new Set<number>()

  // One id, one digest and one fingerprint at a time are taken apart in these.
  readonly #id = new Uint32Array(2)
  readonly #digest = new Uint32Array(WORDS)
  readonly #fingerprint = new Uint32Array(WORDS)

  get size(): number {
    return this.#rows
  }

  startReading(): void {
    this.#part += 1
    this.#firstPart = this.#part
    this.#discarded.clear()
  }

  startPart(): void {
    this.#part += 1
    this.#learnedBefore = this.#learnedLength
  }

  discardPart(): void {
    this.#discarded.add(this.#part)
    this.#learnedLength = this.#learnedBefore
  }

  find(digest: string): number {
    readBytes(digest, this.#digest)
    return this.#byDigest.find(this.#digest[0] ?? 0, candidate =>
      areSame(this.#digests, candidate, this.#digest, 0),
    )
  }

  listKnown(row: number, except: ReadonlySet<string>): boolean {
    if (except.size > 0 && except.has(this.#idOf(row))) return false
    return this.#markListed(row)
  }

  list(id: string): number {
    const row = this.#rowOf(id) ?? this.#add()
    return this.#markListed(row) ? row : -1
  }

  isListed(id: string): boolean {
    const row = this.#rowOf(id)
    return row !== null && this.#isListed(row)
  }

  isInPart(id: string): boolean {
    const row = this.#rowOf(id)
    return row !== null && this.#parts[row] === this.#part
  }

  unlisted(): readonly string[] | null {
    if (!this.#hasAllCurrent) return null
    const ids: string[] = []
    for (let row = 0; row < this.#rows; row++) {
      if (!this.#isListed(row) && !this.#removed.has(row)) ids.push(this.#idOf(row))
    }
    return ids
  }

  nothingIsStored(): void {
    this.#hasAllCurrent = true
  }

  recall(row: number, fingerprint: string): Recalled | null {
    if (!isSet(this.#fingerprints, row)) return null
    readBytes(fingerprint, this.#fingerprint)
    const isChanged = !areSame(this.#fingerprints, row, this.#fingerprint, 0)
    return { isChanged, wasFiring: this.#firing[row] === 1 }
  }

  learn(row: number, digest: string, { fingerprint, isFiring }: RowState): void {
    readBytes(digest, this.#digest)
    readBytes(fingerprint, this.#fingerprint)
    const at = this.#learnedLength
    if (at === this.#learned.length) this.#learned = doubled(this.#learned, Uint32Array)
    this.#learned[at] = row
    this.#learned.set(this.#digest, at + 1)
    this.#learned.set(this.#fingerprint, at + 1 + WORDS)
    this.#learned[at + LEARNED - 1] = isFiring ? 1 : 0
    this.#learnedLength += LEARNED
  }

  commit(kept: readonly string[] | null, removed: readonly string[]): void {
    for (let at = 0; at < this.#learnedLength; at += LEARNED) {
      const row = this.#learned[at] ?? 0
      copyWords(this.#learned, at + 1, this.#digests, row * WORDS)
      copyWords(this.#learned, at + 1 + WORDS, this.#fingerprints, row * WORDS)
      this.#firing[row] = this.#learned[at + LEARNED - 1] ?? 0
      this.#removed.delete(row)
      this.#byDigest.add(row, this.#rows)
    }
    for (const id of kept ?? []) if (this.#rowOf(id) === null) this.#add()
    for (const id of removed) {
      const row = this.#rowOf(id)
      if (row === null) continue
      this.#digests.fill(0, row * WORDS, (row + 1) * WORDS)
      this.#fingerprints.fill(0, row * WORDS, (row + 1) * WORDS)
      this.#removed.add(row)
    }
    if (kept !== null) this.#hasAllCurrent = true
    this.rollback()
  }

  rollback(): void {
    this.#learnedLength = 0
    if (this.#learned.length > FIRST_CAPACITY * LEARNED) {
      this.#learned = new Uint32Array(FIRST_CAPACITY * LEARNED)
    }
  }

  #markListed(row: number): boolean {
    if (this.#isListed(row)) return false
    this.#parts[row] = this.#part
    return true
  }

  #isListed(row: number): boolean {
    const part = this.#parts[row] ?? 0
    return part >= this.#firstPart && part > 0 && !this.#discarded.has(part)
  }

  /** Finds the row of an id, and leaves the id in `#id`. */
  #rowOf(id: string): number | null {
    const rounded = Number(id)
    const exact = Number.isSafeInteger(rounded) ? null : BigInt(id)
    this.#id[0] = exact === null ? rounded : Number(exact & 0xffffffffn)
    this.#id[1] = exact === null ? rounded / 2 ** 32 : Number(exact >> 32n)
    const low = this.#id[0]
    const high = this.#id[1]
    const row = this.#byId.find(
      hashOf(this.#id, 0),
      candidate => this.#ids[candidate * 2] === low && this.#ids[candidate * 2 + 1] === high,
    )
    return row === -1 ? null : row
  }

  #idOf(row: number): string {
    return `${(BigInt(this.#ids[row * 2 + 1] ?? 0) << 32n) | BigInt(this.#ids[row * 2] ?? 0)}`
  }

  /** Adds a row for the id in `#id`. */
  #add(): number {
    if (this.#rows === this.#parts.length) {
      this.#ids = doubled(this.#ids, Uint32Array)
      this.#parts = doubled(this.#parts, Uint32Array)
      this.#digests = doubled(this.#digests, Uint32Array)
      this.#fingerprints = doubled(this.#fingerprints, Uint32Array)
      this.#firing = doubled(this.#firing, Uint8Array)
    }
    const row = this.#rows++
    this.#ids.set(this.#id, row * 2)
    this.#byId.add(row, this.#rows)
    return row
  }
}

function hashOf(ids: Uint32Array, row: number): number {
  return ((ids[row * 2] ?? 0) ^ Math.imul(ids[row * 2 + 1] ?? 0, 0x9e3779b1)) >>> 0
}

/** Copies four numbers, without an object for each part of an array. */
function copyWords(from: Uint32Array, at: number, to: Uint32Array, toAt: number): void {
  for (let word = 0; word < WORDS; word++) to[toAt + word] = from[at + word] ?? 0
}

/** Whether a row has a digest, or a fingerprint. */
function isSet(words: Uint32Array, row: number): boolean {
  for (let word = 0; word < WORDS; word++) if (words[row * WORDS + word] !== 0) return true
  return false
}

function doubled<Numbers extends Uint32Array | Uint8Array>(
  numbers: Numbers,
  Kind: new (length: number) => Numbers,
): Numbers {
  const larger = new Kind(numbers.length * 2)
  larger.set(numbers as never)
  return larger
}
