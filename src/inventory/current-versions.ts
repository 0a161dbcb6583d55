import type { Pool } from 'pg'
import { queryAsTransaction } from '#src/db/pool.ts'
import { onlyRow } from '#src/db/rows.ts'
import { idArray, type VersionedTable } from './versioned-tables.ts'

/** Rows of a listing, as far as Postgres needs them for the comparison. */
export type ListedBlock = {
  readonly ids: readonly string[]
  readonly fingerprints: readonly string[]
  /** Which rows fire; null if the resource has no such state. */
  readonly firing: readonly boolean[] | null
}

/** Indexes into the block. */
export type Differences = {
  readonly added: readonly number[]
  readonly changed: readonly number[]
  readonly began: readonly number[]
  readonly ended: readonly number[]
}

/** How many ids are read at a time, so that memory does not grow with their number. */
const IDS_AT_A_TIME = 20_000

/*
 * Postgres looks up the rows one by one, by `limit 1`: its guess of what a join costs would read all current rows for each
 * thousand that are compared.
 */

/**
 * Returns what differs between some rows and the current versions. Only ids and fingerprints are sent to Postgres. A row is
 * compared with its current version in whatever folder that is, because rules move between folders.
 */
export async function compareWithCurrent<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  { ids, fingerprints, firing }: ListedBlock,
): Promise<Differences> {
  const [began, ended] = firing
    ? ['l.firing and f.id is null', 'not l.firing and f.id is not null']
    : ['false', 'false']
  const openFirings = firing
    ? `left join lateral (
         select id from ferry.alert_rule_firings where id = l.id and account = $1 and ended is null limit 1
       ) f on true`
    : ''
  const indexes = (condition: string) =>
    `coalesce(json_agg(l.n - 1 order by l.n) filter (where ${condition}), '[]')`
  const { rows } = await queryAsTransaction<Differences>(
    pool,
    `select ${indexes('k.fingerprint is null')} as added, ${indexes('l.fingerprint <> k.fingerprint')} as changed,
       ${indexes(began)} as began, ${indexes(ended)} as ended
     from unnest($2::${table.idType}[], $3::uuid[], $4::boolean[]) with ordinality as l (id, fingerprint, firing, n)
     left join lateral (
       select fingerprint from ${table.name}
       where ${table.idColumn} = l.id and account = $1 and valid_to is null limit 1
     ) k on true
     ${openFirings}`,
    [account, idArray(table, ids), `{${fingerprints.join(',')}}`, firing],
  )
  return onlyRow(rows, 'the comparison of rows')
}

export async function hasCurrent<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
): Promise<boolean> {
  const { rows } = await queryAsTransaction<{ found: boolean }>(
    pool,
    `select exists (select from ${table.name} where account = $1 and valid_to is null) as found`,
    [account],
  )
  return onlyRow(rows, 'the search for current rows').found
}

/** The rows that are current in scope: those of `folders`, or of the whole account if it is null. */
function inScope<Row>(table: VersionedTable<Row>, parameter: string): string {
  const ofFolder = table.folderColumn ? `or ${table.folderColumn} = any (${parameter})` : ''
  return `account = $1 and valid_to is null and (${parameter}::numeric[] is null ${ofFolder})`
}

export async function countCurrent<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  folders: readonly bigint[] | null,
): Promise<number> {
  const { rows } = await queryAsTransaction<{ count: string }>(
    pool,
    `select count(*) from ${table.name} where ${inScope(table, '$2')}`,
    [account, folders],
  )
  return Number(onlyRow(rows, 'the count of current rows').count)
}

/** Yields the ids of the current rows in scope, some at a time. */
export async function* currentIds<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  folders: readonly bigint[] | null,
): AsyncGenerator<readonly string[]> {
  const { idColumn: id } = table
  for (let last = table.idType === 'numeric' ? '-1' : ''; ; ) {
    const { rows } = await queryAsTransaction<{ ids: string[] }>(
      pool,
      `select coalesce(json_agg(id::text order by id), '[]') as ids from (
         select ${id} as id from ${table.name}
         where ${inScope(table, '$2')} and ${id} > $3 order by ${id} limit $4
       ) next`,
      [account, folders, last, IDS_AT_A_TIME],
    )
    const { ids } = onlyRow(rows, 'the current ids')
    if (ids.length > 0) yield ids
    if (ids.length < IDS_AT_A_TIME) return
    last = ids.at(-1) ?? last
  }
}

/** Returns those of `ids` that are current in scope, in order. */
export async function thoseCurrent<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  folders: readonly bigint[] | null,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { idColumn: id } = table
  const { rows } = await queryAsTransaction<{ current_id: string }>(
    pool,
    `select ${id}::text as current_id from ${table.name}
     where ${inScope(table, '$2')} and ${id} = any ($3::${table.idType}[]) order by ${id}`,
    [account, folders, idArray(table, ids)],
  )
  return rows.map(row => row.current_id)
}
