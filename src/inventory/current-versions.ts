import type { Pool } from 'pg'
import { onlyRow } from '#src/db/rows.ts'
import { idArray, type VersionedTable } from './versioned-tables.ts'

/** The listed rows, as far as Postgres needs them for the comparison: ids and fingerprints. */
export type ListedRows = {
  readonly ids: readonly string[]
  /** By index into `ids`. */
  fingerprintOf(n: number): string
  /** Ids of quarantined rows: they were delivered, so they are not gone. */
  readonly present: readonly string[]
}

export type Differences = {
  /** Indexes into the listed rows, ordered by id: an index takes in sorted rows fastest. */
  readonly added: readonly number[]
  readonly changed: readonly number[]
  /** Ids of the current rows in scope that were not listed. */
  readonly gone: readonly string[]
  /** How many rows are current in scope. */
  readonly current: number
}

/**
 * Returns what differs between a listing and the current versions. Only ids and fingerprints are sent to Postgres, and
 * none if nothing is stored yet.
 *
 * `folders` limits which rows count as current and can be gone; null is the whole account. A listed row is compared with
 * its current version in whatever folder that is, because rules move between folders.
 */
export async function compareWithCurrent<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  listed: ListedRows,
  folders: readonly bigint[] | null,
): Promise<Differences> {
  if (!(await hasCurrent(pool, table, account))) {
    return { added: sortedById(listed.ids), changed: [], gone: [], current: 0 }
  }
  const fingerprints = listed.ids.map((_, n) => listed.fingerprintOf(n))
  const inScope = table.folderColumn
    ? `($5::numeric[] is null or ${table.folderColumn} = any($5))`
    : '$5::numeric[] is null'
  const { rows } = await pool.query<Omit<Differences, 'current'> & { current: string }>(
    `with listed as (
       select * from unnest($2::${table.idType}[], $3::uuid[]) with ordinality as l (id, fingerprint, n)
     ), known as (
       select ${table.idColumn} as id, fingerprint, ${inScope} as in_scope
       from ${table.name} where account = $1 and valid_to is null
     )
     select
       coalesce(json_agg(l.n - 1 order by l.id) filter (where k.id is null), '[]') as added,
       coalesce(json_agg(l.n - 1 order by l.id) filter (where l.fingerprint <> k.fingerprint), '[]') as changed,
       coalesce(json_agg(k.id::text) filter (where l.id is null and k.in_scope and k.id::text <> all ($4::text[])),
                '[]') as gone,
       count(*) filter (where k.in_scope) as current
     from listed l full join known k on k.id = l.id`,
    [account, idArray(table, listed.ids), `{${fingerprints.join(',')}}`, listed.present, folders],
  )
  const row = onlyRow(rows, 'the comparison of a listing')
  return { ...row, current: Number(row.current) }
}

async function hasCurrent<Row>(pool: Pool, table: VersionedTable<Row>, account: string): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>(
    `select exists (select from ${table.name} where account = $1 and valid_to is null) as found`,
    [account],
  )
  return onlyRow(rows, 'the search for current rows').found
}

/** Indexes into `ids`, ordered by id. Of two numbers written as text, the shorter one is the smaller. */
function sortedById(ids: readonly string[]): number[] {
  const idAt = (n: number) => ids[n] ?? ''
  return [...ids.keys()].sort((a, b) => idAt(a).length - idAt(b).length || (idAt(a) < idAt(b) ? -1 : 1))
}

/** The ids of the current versions. */
export async function loadCurrentIds<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ id: string }>(
    `select ${table.idColumn}::text as id from ${table.name} where account = $1 and valid_to is null`,
    [account],
  )
  return new Set(rows.map(row => row.id))
}
