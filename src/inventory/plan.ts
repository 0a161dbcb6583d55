import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pool } from 'pg'
import { fingerprint } from '#src/model/fingerprint.ts'
import type { Listing } from '#src/model/listing.ts'
import { loadOpenFirings } from '#src/store/firings.ts'
import { compareWithCurrent, loadCurrentIds } from '#src/store/versions.ts'
import type { ReadRequest, Source } from './source.ts'

/** What applying a listing would change, removals apart: those need more than one look. */
export type Plan<Row> = {
  readonly listing: Listing<Row>
  /** The fingerprint of a row of the listing, by its index. */
  fingerprintOf(n: number): string
  /** Indexes into the listing's rows. */
  readonly added: readonly number[]
  readonly changed: readonly number[]
  /** Current ids, within the scope, that the listing does not have. */
  readonly absent: readonly string[]
  /** How many rows are current within the scope: what the removal guard takes its share of. */
  readonly current: number
  /** Ids whose firing began, and those whose firing ended, by what the listing shows. */
  readonly began: readonly string[]
  readonly ended: readonly string[]
}

const HASHED_IN_ONE_GO = 5_000

/** Returns what differs between the listing and what is stored; writes nothing. */
export async function planChanges<Row>(
  pool: Pool,
  source: Source<Row>,
  account: string,
  listing: Listing<Row>,
): Promise<Plan<Row>> {
  const { table, canonical } = source
  const ids = listing.rows.map(table.idOf)
  const known: string[] = []
  const fingerprintOf = (n: number) => {
    known[n] ??= fingerprint(canonical(rowAt(listing.rows, n)))
    return known[n]
  }
  // Seconds of work in one go would keep the leases of all runs here from being renewed.
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
    ? planFirings(listing.rows, ids, source.isFiring, await loadOpenFirings(pool, account))
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

/** Returns a function that says whether ids are exactly those stored as current. */
export function knownSetCheck<Row>(
  pool: Pool,
  { table }: Source<Row>,
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

function planFirings<Row>(
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
