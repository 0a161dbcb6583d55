import type { Pool, PoolClient } from 'pg'
import { copyField, copyLines, textArray } from './copy.ts'
import type { VersionedTable } from './versioned-tables.ts'

/** What was listed, as far as Postgres must know to tell what is new: ids and fingerprints, side by side. */
export type ListedRows = {
  readonly ids: readonly string[]
  /** By index into `ids`. Not asked for where there is nothing to compare with. */
  fingerprintOf(n: number): string
  /** Ids that were delivered but set aside: they are there, so they are not gone. */
  readonly present: readonly string[]
}

export type Differences = {
  /** Indexes into the listed rows, by id: sorted rows are what an index takes in fastest. */
  readonly added: readonly number[]
  readonly changed: readonly number[]
  /** Ids of current rows, within the scope, that were not listed. */
  readonly gone: readonly string[]
  /** Current rows within the scope. */
  readonly current: number
}

/**
 * Returns what differs between a listing and the current versions: only ids and fingerprints travel.
 *
 * Where nothing is stored yet, all is new without a comparison. Fingerprints are then made while the rows are written,
 * in the time Postgres takes for those before, which makes a first sync a fifth faster.
 *
 * `folders` narrows what may be called gone (and counts as current); null is the whole account. A listed row is
 * compared with its current version wherever that is, since rules move between folders.
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
    [account, arrayOf(table, listed.ids), `{${fingerprints.join(',')}}`, listed.present, folders],
  )
  const [row] = rows
  if (!row) throw new Error('the comparison answered no row')
  return { ...row, current: Number(row.current) }
}

async function hasCurrent<Row>(pool: Pool, table: VersionedTable<Row>, account: string): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>(
    `select exists (select from ${table.name} where account = $1 and valid_to is null) as found`,
    [account],
  )
  return rows[0]?.found === true
}

/** Indexes into `ids`, by id; of numbers written as text, the shorter is the smaller. */
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

/** The contract's columns of current versions, each as Postgres writes it, by id. */
export async function loadDocuments<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string | null>>>> {
  const columns = table.columns.map(([name]) => `${name}::text`).join(', ')
  const { rows } = await pool.query<Record<string, string | null>>(
    `select ${table.idColumn}::text as id_of_version, ${columns} from ${table.name}
     where account = $1 and valid_to is null and ${table.idColumn} = any ($2::${table.idType}[])`,
    [account, arrayOf(table, ids)],
  )
  return new Map(rows.map(row => [row.id_of_version ?? '', row]))
}

/** Ends the current versions of `ids` at the instant `at`. All of them must be there: the lease keeps others out. */
export async function closeVersions<Row>(
  client: PoolClient,
  table: VersionedTable<Row>,
  run: { account: string; runId: bigint; at: string },
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const closed = await client.query(
    `update ${table.name} set valid_to = $3, closed_by_run = $2
     where account = $1 and valid_to is null and ${table.idColumn} = any ($4::${table.idType}[])`,
    [run.account, run.runId, run.at, arrayOf(table, ids)],
  )
  if (closed.rowCount !== ids.length) {
    throw new Error(
      `${ids.length} versions were to be closed in ${table.name}, ${closed.rowCount} were there`,
    )
  }
}

/** A row with what goes beside it into its version. */
export type NewVersion<Row> = {
  readonly row: Row
  readonly fingerprint: string
  readonly flags: readonly string[] | undefined
  readonly altered: readonly string[] | undefined
}

/** Opens a version for each row at the instant `at`, by COPY. */
export async function openVersions<Row>(
  client: PoolClient,
  table: VersionedTable<Row>,
  run: { account: string; runId: bigint; at: string },
  versions: Iterable<NewVersion<Row>>,
): Promise<void> {
  const names = table.columns.map(([name]) => name).join(', ')
  const shared = `${copyField(run.account)}\t${run.at}\t${run.runId}\t`
  await copyLines(
    client,
    `${table.name} (account, valid_from, opened_by_run, ${table.idColumn}, fingerprint, flags, altered, ${names})`,
    copyVersions(table, shared, versions),
  )
}

function* copyVersions<Row>(
  table: VersionedTable<Row>,
  shared: string,
  versions: Iterable<NewVersion<Row>>,
): Generator<string> {
  for (const { row, fingerprint, flags, altered } of versions) {
    let line = `${shared}${copyField(table.idOf(row))}\t${fingerprint}\t${copyField(textArray(flags))}\t${copyField(textArray(altered))}`
    for (const [, value] of table.columns) line += `\t${copyField(value(row))}`
    yield `${line}\n`
  }
}

/** Numeric ids as one literal, which costs a tenth of an array of strings; text ids need the driver's quoting. */
function arrayOf<Row>(table: VersionedTable<Row>, ids: readonly string[]): string | readonly string[] {
  return table.idType === 'numeric' ? `{${ids.join(',')}}` : ids
}
