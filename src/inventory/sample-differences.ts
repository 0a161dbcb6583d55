import { isDeepStrictEqual } from 'node:util'
import type { Pool } from 'pg'
import { FLAG_FIELDS, ID_FIELDS, NUMBER_FIELDS } from '#src/model/contract-fields.ts'
import type { ChangeSink } from './compare.ts'
import type { InventorySource } from './source.ts'
import type { Appearance } from './states.ts'
import { idArray, type VersionedTable } from './versioned-tables.ts'

export type SampleDifference = {
  readonly id: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly name: string | null
  /** The folder of a rule; servers have none. */
  readonly folder: bigint | null
  /** Who last updated a rule. A removal names nobody, nor does what nobody is known to have added. */
  readonly by: string | null
  /** Whether a first reading found it: then nobody added it. */
  readonly firstReading: boolean
  /** Of a change: each field that differs, with its values before and after. Ids are bigints. */
  readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>
}

type Added<Row> = { readonly row: Row; readonly appeared: Appearance | null }

/** The first rows that were added and changed, and how many a first reading found. */
export type FirstChanges<Row> = {
  readonly added: readonly Added<Row>[]
  /** Of the added rows, the first that a first reading found. */
  readonly read: readonly Added<Row>[]
  readonly changed: readonly Row[]
  readonly firstRead: number
}

/** Takes changes and keeps the first of each kind, at most `limit`. `appearanceOf` says how rows that are added appeared. */
export function collectSamples<Row>(
  limit: number,
  appearanceOf: (row: Row) => Appearance | null,
): ChangeSink<Row> & { first(): FirstChanges<Row> } {
  let marked: FirstChanges<Row> = { added: [], read: [], changed: [], firstRead: 0 }
  let first = marked
  const fill = <One>(rows: readonly One[], more: readonly One[]) => [
    ...rows,
    ...more.slice(0, limit - rows.length),
  ]
  return {
    mark() {
      marked = first
    },
    rewind() {
      first = marked
    },
    async write({ added, changed }) {
      const all = added.map(({ row }) => ({ row, appeared: appearanceOf(row) }))
      const read = all.filter(({ appeared }) => appeared === 'first reading')
      first = {
        added: fill(
          first.added,
          all.filter(({ appeared }) => appeared !== 'first reading'),
        ),
        read: fill(first.read, read),
        changed: fill(
          first.changed,
          changed.map(({ row }) => row),
        ),
        firstRead: first.firstRead + read.length,
      }
    },
    first: () => first,
  }
}

/** Returns the differences of these rows, and of those that are absent. */
export async function sampleDifferences<Row>(
  pool: Pool,
  { table }: InventorySource<Row>,
  account: string,
  { added, read, changed }: FirstChanges<Row>,
  absent: readonly string[],
): Promise<SampleDifference[]> {
  const changedIds = changed.map(row => table.idOf(row))
  const stored = await loadDocuments(pool, table, account, [...changedIds, ...absent])
  const listed = (row: Row): Document =>
    Object.fromEntries(table.columns.map(([name, value]) => [name, value(row)]))
  return [
    ...[...added, ...read].map(({ row, appeared }) => ({
      id: table.idOf(row),
      change: 'added' as const,
      ...aboutRow(listed(row)),
      ...(appeared === null ? {} : { by: null }),
      firstReading: appeared === 'first reading',
      fields: {},
    })),
    ...changed.map(row => ({
      id: table.idOf(row),
      change: 'changed' as const,
      ...aboutRow(listed(row)),
      firstReading: false,
      fields: differingFields(table, storedRow(stored, table.idOf(row)), listed(row)),
    })),
    ...absent.map(id => ({
      id,
      change: 'removed' as const,
      ...aboutRow(storedRow(stored, id)),
      by: null,
      firstReading: false,
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
