import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pool } from 'pg'
import { fingerprint } from '#src/model/fingerprint.ts'
import type { Listing } from '#src/model/listing.ts'
import { compareWithCurrent, loadCurrentIds } from './current-versions.ts'
import { loadOpenFirings } from './firings.ts'
import type { InventorySource, ReadRequest } from './source.ts'

/** How a listing differs from what is stored. */
export type Comparison<Row> = {
  readonly listing: Listing<Row>
  /** The fingerprint of a row of the listing, by the index of the row. */
  fingerprintOf(n: number): string
  /** Indexes into the listing's rows. */
  readonly added: readonly number[]
  readonly changed: readonly number[]
  /** Ids of the current rows in scope that the listing lacks. */
  readonly absent: readonly string[]
  /** How many rows are current in scope: the removal guard takes its share of them. */
  readonly current: number
  /** Ids of the rules that began to fire, and of those that recovered. */
  readonly began: readonly string[]
  readonly ended: readonly string[]
}

/** Rows hashed before other work gets a turn: hashing all of them at once would keep leases from being renewed. */
const HASHED_IN_ONE_GO = 5_000

/** Compares a listing with what is stored. Writes nothing. */
export async function compareListing<Row>(
  pool: Pool,
  source: InventorySource<Row>,
  account: string,
  listing: Listing<Row>,
): Promise<Comparison<Row>> {
  const { table, canonical } = source
  const ids = listing.rows.map(table.idOf)
  const known: string[] = []
  const fingerprintOf = (n: number) => {
    known[n] ??= fingerprint(canonical(rowAt(listing.rows, n)))
    return known[n]
  }
  for (const n of ids.keys()) {
    if (n % HASHED_IN_ONE_GO === 0) await nextTurn()
    fingerprintOf(n)
  }
  const present = listing.quarantined.flatMap(row => (row.id === null ? [] : [row.id]))
  const differences = await compareWithCurrent(
    pool,
    table,
    account,
    { ids, fingerprintOf, present },
    source.folders,
  )
  const firings = source.isFiring
    ? compareFirings(listing.rows, ids, source.isFiring, await loadOpenFirings(pool, account))
    : { began: [], ended: [] }
  return {
    listing,
    fingerprintOf,
    added: differences.added,
    changed: differences.changed,
    absent: differences.gone,
    current: differences.current,
    ...firings,
  }
}

/** Returns a function that tells whether ids are exactly those stored as current. */
export function knownSetCheck<Row>(
  pool: Pool,
  { table }: InventorySource<Row>,
  account: string,
): ReadRequest['isKnownSet'] {
  return async ids => {
    const known = await loadCurrentIds(pool, table, account)
    return known.size === ids.size && known.isSubsetOf(ids)
  }
}

export function rowAt<Row>(rows: readonly Row[], n: number): Row {
  const row = rows[n]
  if (row === undefined) throw new Error(`the comparison named row ${n} of ${rows.length}`)
  return row
}

function compareFirings<Row>(
  rows: readonly Row[],
  ids: readonly string[],
  isFiring: (row: Row) => boolean,
  open: ReadonlySet<string>,
): { began: string[]; ended: string[] } {
  const began: string[] = []
  const ended: string[] = []
  for (const [n, row] of rows.entries()) {
    const id = ids[n] ?? ''
    if (isFiring(row) && !open.has(id)) began.push(id)
    else if (!isFiring(row) && open.has(id)) ended.push(id)
  }
  return { began, ended }
}
