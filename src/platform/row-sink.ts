import type { Drift, Quarantined } from '#src/model/listing.ts'

/** A row of a listing, as it was read. */
export type ReadRow<Row> = GoodRow<Row> | Quarantined

export type GoodRow<Row> = {
  /** Its position in the listing, from 0. */
  readonly position: number
  readonly id: string
  readonly row: Row
  /** The paths of fields whose text was altered. */
  readonly altered: readonly string[]
  /** See `RowSink.knows`. */
  readonly digest: string
  /** The length of its text, in bytes. */
  readonly bytes: number
}

/** Takes the rows of one listing while it is being read. */
export type RowSink<Row> = {
  /** Resolves when rows may come. */
  ready(): Promise<void>
  /** A listing begins. What came before, if anything, was not a whole listing and does not count. */
  begin(): void
  /**
   * Whether a row with this digest was read before and needs no parsing; it then counts as delivered. A digest is the
   * SHA-256 of the row's text, as 32 characters of one byte each.
   */
  knows(digest: string): boolean
  /**
   * Takes a row that is not known. `knows` and `take` are called in the order of the rows. `raw` returns what is stored if a
   * good row is quarantined after all, see `Quarantined.raw`.
   */
  take(row: ReadRow<Row>, raw?: () => string | null): void
  /** Resolves when more rows may come. It is called after a few hundred rows. */
  settle(): Promise<void>
}

/** What a listing came to. */
export type ListingEnd = {
  /** How many rows were delivered, whatever they were. */
  readonly rows: number
  /** Equal hashes mean equal rows in the same order. */
  readonly dataHash: string
  readonly drift: readonly Drift[]
}
