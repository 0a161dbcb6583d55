import { bytesOfRow } from '#src/imports/estimate.ts'
import type { RowCheck, RowVerdict } from '#src/imports/staging/checks/row.ts'
import { localeKey } from '#src/imports/staging/checks/values.ts'
import { RECIPIENT } from '#src/imports/staging/file/header.ts'
import type { Sink } from '#src/imports/staging/file/lines.ts'
import type { OpenFile } from '#src/imports/staging/file/rows.ts'
import type { StagingWriter } from './staging-writer.ts'

/** Counts of rows, beside how many went to which table. */
export type Tally = {
  /** Rows taken so far, and the line of the last one. */
  read: number
  lastLine: number
  /** Good rows, and how many bytes they have in requests. */
  good: number
  bytes: number
  /** Good rows from whose address something was removed. */
  unseenCharacters: number
  namesOrSeparators: number
  /** Lines that may name somebody within rows of several lines; how many of them are in rows that have some; the first such row. */
  enclosedLines: number
  enclosedTogether: number
  enclosedAt: number | null
  /** Good rows that name components, and one of these components. */
  withComponents: number
  component: string | null
  /** The locales of rows rejected for them (as `localeKey` returns them), with the number of rows. The first 1,000 are counted. */
  readonly wrongLocales: Map<string, number>
}

/** A file has few locales; one that has many has something else in that column. */
const MAX_LOCALES = 1000
/** The form of a locale. Anything else may be personal data. */
const LIKE_A_LOCALE = /^[a-z]{2,3}(?:[-_][a-z\d]{2,8}){0,3}$/i

/** Fewer lines with an address may be a note. */
const SOME_LINES = 3

/** Checks each row that a reader finds, and writes it to its table. */
export class RowSink implements Sink {
  readonly #writer: StagingWriter
  readonly #check: RowCheck
  readonly #hashOf: (recipient: string) => string
  readonly #file: OpenFile
  readonly #enclosedIn: (raw: string, own: readonly unknown[]) => number
  readonly #seenBefore = openSeenBefore()
  /** Of the recipients taken since `findRepeated` was called. */
  readonly #hashes: string[] = []
  readonly #tally: Tally = {
    read: 0,
    lastLine: 0,
    good: 0,
    bytes: 0,
    unseenCharacters: 0,
    namesOrSeparators: 0,
    enclosedLines: 0,
    enclosedTogether: 0,
    enclosedAt: null,
    withComponents: 0,
    component: null,
    wrongLocales: new Map(),
  }

  constructor(
    writer: StagingWriter,
    check: RowCheck,
    hashOf: (recipient: string) => string,
    file: OpenFile,
    enclosedIn: (raw: string, own: readonly unknown[]) => number,
  ) {
    this.#enclosedIn = enclosedIn
    this.#writer = writer
    this.#check = check
    this.#hashOf = hashOf
    this.#file = file
  }

  /** The counts so far. */
  get tally(): Readonly<Tally> {
    return this.#tally
  }

  /**
   * Passes to the writer which recipients taken since the last call may be repeated. Call it after the last row too. Many in
   * one loop: a processor then loads several places of memory at once.
   */
  findRepeated(): void {
    for (const hash of this.#hashes) if (this.#seenBefore(hash)) this.#writer.repeated(hash)
    this.#hashes.length = 0
  }

  faultOf(values: readonly unknown[]): number | null {
    const verdict = this.#check.verdictOn(values)
    return verdict.kind === 'rejected' ? verdict.field : null
  }

  row(line: number, values: readonly unknown[], raw: string): void {
    const verdict = this.#check.verdictOn(values)
    this.#countRecord(line, raw, values[RECIPIENT])
    if (verdict.kind === 'good') {
      const { recipient, all, componentIds, locale } = verdict
      const hash = this.#hashOf(recipient)
      this.#hashes.push(hash)
      this.#count(verdict)
      this.#writer.recipient({ line, hash, all, componentIds, locale, recipient, raw })
    } else if (verdict.kind === 'left out') {
      const { reason, recipient } = verdict
      const hash = recipient === null ? null : this.#hashOf(recipient)
      this.#writer.leftOut({ line, reason, recipient, hash })
    } else {
      const { reason, message, value, field } = verdict
      if (value !== undefined) this.#countLocale(value)
      this.#writer.reject({ line, reason, column: this.#file.columnOf(field), message, raw })
    }
  }

  damaged(line: number, reason: string, message: string, raw: string): void {
    this.#countRecord(line, raw, null)
    // Postgres cannot store U+0000: a visible character replaces it.
    this.#writer.reject({ line, reason, column: null, message, raw: raw.replaceAll('\0', '\u2400') })
  }

  #countRecord(line: number, raw: string, own: unknown): void {
    const tally = this.#tally
    tally.read++
    tally.lastLine = line
    // Nearly all records are one line.
    const enclosed = raw.includes('\n') ? this.#enclosedIn(raw, [own]) : 0
    if (enclosed === 0) return
    tally.enclosedLines += enclosed
    if (enclosed >= SOME_LINES) tally.enclosedTogether += enclosed
    tally.enclosedAt ??= line
  }

  #count({ recipient, locale, cleaned, componentIds }: RowVerdict & { kind: 'good' }): void {
    const tally = this.#tally
    tally.good++
    tally.bytes += bytesOfRow(recipient, locale, componentIds)
    if (cleaned === 'unseen characters') tally.unseenCharacters++
    else if (cleaned !== null) tally.namesOrSeparators++
    if (componentIds.length === 0) return
    tally.withComponents++
    // The id of a component has no @: anything else may be personal data.
    tally.component ??= componentIds.find(id => /^[\w-]{1,64}$/.test(id)) ?? null
  }

  #countLocale(value: string): void {
    if (!LIKE_A_LOCALE.test(value)) return
    const { wrongLocales } = this.#tally
    const locale = localeKey(value)
    const before = wrongLocales.get(locale)
    if (before !== undefined || wrongLocales.size < MAX_LOCALES) wrongLocales.set(locale, (before ?? 0) + 1)
  }
}

/** 32 MB of bits, in blocks of the size of a processor's cache line. */
const WORDS_A_BLOCK = 16
const BLOCKS = 2 ** 19

/**
 * Returns a function that tells whether it may have been called with a hash before. "No" is certain. Its memory is the same
 * for any number of rows (a blocked Bloom filter). Of five million hashes that are all different, some hundred seem to be
 * repeated; Postgres looks for duplicates of these only.
 */
export function openSeenBefore(): (hash: string) => boolean {
  const words = new Uint32Array(BLOCKS * WORDS_A_BLOCK)
  return hash => {
    const byte = (n: number) => hash.charCodeAt(n)
    const block = ((byte(0) << 16) | (byte(1) << 8) | byte(2)) % BLOCKS
    let seen = true
    // Four bits of the block's 512, each named by a byte and a ninth bit.
    for (let n = 0; n < 4; n++) {
      const bit = (byte(3 + n) << 1) | ((byte(7) >> n) & 1)
      const at = block * WORDS_A_BLOCK + (bit >>> 5)
      const word = words[at] ?? 0
      const mask = 1 << (bit & 31)
      if ((word & mask) !== 0) continue
      seen = false
      words[at] = word | mask
    }
    return seen
  }
}
