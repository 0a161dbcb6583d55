import { type Block, type Damage, LONGEST_LINE } from './lines.ts'

/** Reads the blocks of a file one after the other. */
export type Reader = (block: Block) => void

/** What a reader passes its rows to. Lines are counted from 1. */
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
  'NUL byte': 'the line holds a NUL byte',
}
