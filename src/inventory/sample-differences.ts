import { isDeepStrictEqual } from 'node:util'
import type { Pool } from 'pg'
import { FLAG_FIELDS, ID_FIELDS, NUMBER_FIELDS } from '#src/model/contract-fields.ts'
import type { ChangeSink } from './compare.ts'
import type { InventorySource } from './source.ts'
import { idArray, type VersionedTable } from './versioned-tables.ts'
import type { NewVersion } from './versions.ts'

export type SampleDifference = {
  readonly id: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly name: string | null
  /** The folder of a rule; servers have none. */
  readonly folder: bigint | null
  /** Who last updated a rule. A removal names nobody. */
  readonly by: string | null
  /** Of a change: each field that differs, with its values before and after. Ids are bigints. */
  readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>
}

/** The first rows that were added and changed. */
export type FirstChanges<Row> = { readonly added: readonly Row[]; readonly changed: readonly Row[] }

/** Takes changes and keeps the first of each kind, at most `limit`. */
export function collectSamples<Row>(limit: number): ChangeSink<Row> & { first(): FirstChanges<Row> } {
  let marked: FirstChanges<Row> = { added: [], changed: [] }
  let first = marked
  const fill = (rows: readonly Row[], more: readonly NewVersion<Row>[]) => [
    ...rows,
    ...more.slice(0, limit - rows.length).map(({ row }) => row),
  ]
  return {
    mark() {
      marked = first
    },
    rewind() {
      first = marked
    },
    async write({ added, changed }) {
      first = { added: fill(first.added, added), changed: fill(first.changed, changed) }
    },
    first: () => first,
  }
}

/** Returns the differences of these rows, and of those that are absent. */
export async function sampleDifferences<Row>(
  pool: Pool,
  { table }: InventorySource<Row>,
  account: string,
  { added, changed }: FirstChanges<Row>,
  absent: readonly string[],
): Promise<SampleDifference[]> {
  const changedIds = changed.map(row => table.idOf(row))
  const stored = await loadDocuments(pool, table, account, [...changedIds, ...absent])
  const listed = (row: Row): Document =>
    Object.fromEntries(table.columns.map(([name, value]) => [name, value(row)]))
  return [
    ...added.map(row => ({
      id: table.idOf(row),
      change: 'added' as const,
      ...aboutRow(listed(row)),
      fields: {},
    })),
    ...changed.map(row => ({
      id: table.idOf(row),
      change: 'changed' as const,
      ...aboutRow(listed(row)),
      fields: differingFields(table, storedRow(stored, table.idOf(row)), listed(row)),
    })),
    ...absent.map(id => ({
      id,
      change: 'removed' as const,
      ...aboutRow(storedRow(stored, id)),
      by: null,
      fields: {},
    })),
  ]
}

/** The contract's columns of one row, as text. */
type Document = Readonly<Record<string, string | null>>

/** The contract's columns of current versions as Postgres writes them, by id. */
async function loadDocuments<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Document>> {
  const columns = table.columns.map(([name]) => `${name}::text`).join(', ')
  const { rows } = await pool.query<{ id_of_version: string } & Document>(
    `select ${table.idColumn}::text as id_of_version, ${columns} from ${table.name}
     where account = $1 and valid_to is null and ${table.idColumn} = any ($2::${table.idType}[])`,
    [account, idArray(table, ids)],
  )
  return new Map(rows.map(row => [row.id_of_version, row]))
}

function storedRow(stored: ReadonlyMap<string, Document>, id: string): Document {
  const row = stored.get(id)
  if (!row) throw new Error(`the row ${id} was changed by another run while it was compared`)
  return row
}

function aboutRow(row: Document): Pick<SampleDifference, 'name' | 'folder' | 'by'> {
  return {
    name: row.name ?? row.server_name ?? null,
    folder: row.folder_id === undefined || row.folder_id === null ? null : BigInt(row.folder_id),
    by: row.updater_name ?? null,
  }
}

function differingFields<Row>(
  table: VersionedTable<Row>,
  stored: Document,
  listed: Document,
): SampleDifference['fields'] {
  const fields: Record<string, { before: unknown; after: unknown }> = {}
  for (const [name] of table.columns) {
    const before = stored[name] ?? null
    const after = listed[name] ?? null
    const same = table.jsonColumns.has(name) ? sameJson(before, after) : before === after
    if (!same) fields[name] = { before: typed(table, name, before), after: typed(table, name, after) }
  }
  return fields
}

/** The value of a column's text. */
function typed<Row>(table: VersionedTable<Row>, name: string, text: string | null): unknown {
  if (text === null) return null
  if (table.jsonColumns.has(name)) return JSON.parse(text)
  if (FLAG_FIELDS.has(name)) return text === 'true'
  if (NUMBER_FIELDS.has(name)) return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
  return ID_FIELDS.has(name) ? BigInt(text) : text
}

/** Postgres writes jsonb with its own spaces and order of keys. */
function sameJson(a: string | null, b: string | null): boolean {
  return a === b || (a !== null && b !== null && isDeepStrictEqual(JSON.parse(a), JSON.parse(b)))
}
