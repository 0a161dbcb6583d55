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

/** Whether a row was quarantined whose id cannot be read: then no id counts as absent. */
export function hasUnreadableId(listing: Pick<Listing<unknown>, 'quarantined'>): boolean {
  return listing.quarantined.some(row => row.id === null)
}

/**
 * Joins several listings into one, with one count of positions. A row whose id an earlier listing has too is quarantined, as
 * within one listing: it moved from one folder to another between two responses.
 */
export function joinListings<Row>(
  listings: readonly Listing<Row>[],
  idOf: (row: Row) => string,
): Listing<Row> {
  const [only] = listings
  if (only && listings.length === 1) return only
  const rows: Row[] = []
  const altered = new Map<number, readonly string[]>()
  const quarantined: Quarantined[] = []
  const seen = new Set<string>()
  let offset = 0
  for (const listing of listings) {
    quarantined.push(...listing.quarantined.map(row => ({ ...row, position: row.position + offset })))
    for (const [n, row] of listing.rows.entries()) {
      const id = idOf(row)
      if (seen.has(id)) {
        const reason = 'the same id came in the listing of another folder; that row is used'
        quarantined.push({ position: offset + n, id, reason, raw: null })
        continue
      }
      seen.add(id)
      const fields = listing.altered.get(n)
      if (fields) altered.set(rows.length, fields)
      rows.push(row)
    }
    offset += listing.rows.length + listing.quarantined.length
  }
  const drift = new Map(
    listings.flatMap(listing => listing.drift.map(found => [`${found.field} ${found.type}`, found])),
  )
  return { rows, altered, quarantined, drift: [...drift.values()] }
}
