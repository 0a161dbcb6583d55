import { type Block, type Damage, LONGEST_LINE } from './lines.ts'

/** Takes the blocks of a file one after the other. */
export type Reader = (block: Block) => void

/** Where a reader leaves what it finds. Lines are counted from 1. */
export type Sink = {
  /**
   * Takes a row: the values of the fields asked for, in their order, undefined for what the file does not have; the
   * array is used again for the next row.
   */
  row(line: number, values: readonly unknown[], raw: string): void
  /** By which of its fields such a row would be rejected; null if it would not be. Takes nothing. */
  faultOf(values: readonly unknown[]): number | null
  /** Takes what stands from a line on, of which no row could be made. */
  damaged(line: number, reason: string, message: string, raw: string): void
}

export const DAMAGE_IN_WORDS: Readonly<Record<Damage, string>> = {
  'line too long': `the line is longer than ${LONGEST_LINE} bytes; only its beginning was kept`,
  'not UTF-8': 'the line is not UTF-8 text',
  'NUL byte': 'the line holds a NUL byte',
}
