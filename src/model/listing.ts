/** A delivered row that cannot be applied. */
export type Quarantined = {
  /** Its position in the listing, from 0. */
  readonly position: number
  /** Its id as text, or null if the id itself cannot be read. */
  readonly id: string | null
  readonly reason: string
  /** The declared fields only, as JSON without U+0000 and lone surrogates; null if the row is not an object. */
  readonly raw: string | null
}

/** A field outside the contract: its name and JSON type, never its value, which may be a secret. */
export type Drift = { readonly field: string; readonly type: string }
