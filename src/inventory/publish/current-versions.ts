import type { Pool } from 'pg'
import { z } from 'zod'
import { asTransactions } from '#src/db/pool.ts'
import { findColumn, findOne, findValue, Int8 } from '#src/db/rows.ts'
import type { RowState } from '#src/inventory/read/listed-rows.ts'
import { idArray, type VersionedTable } from '#src/inventory/versioned-tables.ts'
import { hexOf } from '#src/model/fingerprint.ts'

/** A row of a listing, as far as Postgres needs it for the comparison. */
export type ListedState = RowState & { readonly id: string }

const Indexes = z.array(z.number())

/** Indexes into the block. */
export const Differences = z.object({ added: Indexes, changed: Indexes, began: Indexes, ended: Indexes })
export type Differences = z.infer<typeof Differences>

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
  rows: readonly ListedState[],
  hasFirings: boolean,
): Promise<Differences> {
  const [began, ended] = hasFirings
    ? ['l.firing and f.id is null', 'not l.firing and f.id is not null']
    : ['false', 'false']
  const openFirings = hasFirings
    ? `left join lateral (
         select id from ferry.alert_rule_firings where id = l.id and account = $1 and ended is null limit 1
       ) f on true`
    : ''
  const indexes = (condition: string) =>
    `coalesce(json_agg(l.n - 1 order by l.n) filter (where ${condition}), '[]')`
  return findOne(
    asTransactions(pool),
    Differences,
    `select ${indexes('k.fingerprint is null')} as added, ${indexes('l.fingerprint <> k.fingerprint')} as changed,
       ${indexes(began)} as began, ${indexes(ended)} as ended
     from unnest($2::${table.idType}[], $3::uuid[], $4::boolean[]) with ordinality as l (id, fingerprint, firing, n)
     left join lateral (
       select fingerprint from ${table.name}
       where ${table.idColumn} = l.id and account = $1 and valid_to is null limit 1
     ) k on true
     ${openFirings}`,
    [
      account,
      idArray(
        table,
        rows.map(({ id }) => id),
      ),
      `{${hexOf(rows.map(({ fingerprint }) => fingerprint)).join(',')}}`,
      rows.map(({ isFiring }) => isFiring),
    ],
  )
}

export function hasCurrent<Row>(pool: Pool, table: VersionedTable<Row>, account: string): Promise<boolean> {
  return findValue(
    asTransactions(pool),
    z.boolean(),
    `select exists (select from ${table.name} where account = $1 and valid_to is null)`,
    [account],
  )
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
  const count = await findValue(
    asTransactions(pool),
    Int8,
    `select count(*) from ${table.name} where ${inScope(table, '$2')}`,
    [account, folders],
  )
  return Number(count)
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
    const ids = await findValue(
      asTransactions(pool),
      Ids,
      `select coalesce(json_agg(id::text order by id), '[]') from (
         select ${id} as id from ${table.name}
         where ${inScope(table, '$2')} and ${id} > $3 order by ${id} limit $4
       ) next`,
      [account, folders, last, IDS_AT_A_TIME],
    )
    if (ids.length > 0) yield ids
    if (ids.length < IDS_AT_A_TIME) return
    last = ids.at(-1) ?? last
  }
}

const Ids = z.array(z.string())

/** Returns those of `ids` that are current in scope, in order. */
export async function thoseCurrent<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  folders: readonly bigint[] | null,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { idColumn: id } = table
  return findColumn(
    asTransactions(pool),
    z.string(),
    `select ${id}::text as current_id from ${table.name}
     where ${inScope(table, '$2')} and ${id} = any ($3::${table.idType}[]) order by ${id}`,
    [account, folders, idArray(table, ids)],
  )
}
