/**
 * The result of one reading of an inventory: rows that parse, quarantined rows, and fields outside the contract.
 *
 * `rows.length + quarantined.length` is the number of rows the platform delivered.
 */
export type Listing<Row> = {
  /** Rows with distinct ids, in their order. A second row with an id that came before is quarantined. */
  readonly rows: readonly Row[]
  /** By index into `rows`: the paths of fields whose text was altered (U+0000, lone surrogates). Only rows that have any. */
  readonly altered: ReadonlyMap<number, readonly string[]>
  readonly quarantined: readonly Quarantined[]
  readonly drift: readonly Drift[]
}

/** A delivered row that cannot be applied. */
export type Quarantined = {
  /** Its position in the listing, from 0. */
  readonly position: number
  /** Its id as text, or null if the id itself cannot be read. */
  readonly id: string | null
  readonly reason: string
  /** The declared fields only, as JSON without U+0000 and lone surrogates; null if the row is no object. */
  readonly raw: string | null
}

/** A field outside the contract: its name and JSON type, never its value, which may be a secret. */
export type Drift = { readonly field: string; readonly type: string }
