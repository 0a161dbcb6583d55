import type { Pool } from 'pg'
import { z } from 'zod'
import { namedRowsOf } from '#src/db/rows.ts'
import { differingFields, type Fields } from '#src/inventory/history/differences.ts'
import type { InventorySource } from '#src/inventory/source.ts'
import type { Appearance } from '#src/inventory/states.ts'
import { idArray, type VersionedTable } from '#src/inventory/versioned-tables.ts'
import type { FieldKind } from '#src/model/fields.ts'
import type { ChangeSink } from './compare.ts'

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
    async mark() {
      marked = first
    },
    async rewind() {
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
  const stored = await loadCurrent(pool, table, account, [...changedIds, ...absent])
  const listed = (row: Row): Fields =>
    Object.fromEntries(
      table.columns.map(column => [column, valueIn(table.textOf(row, column), table.kindOf(column))]),
    )
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
      fields: Object.fromEntries(
        differingFields(storedRow(stored, table.idOf(row)), listed(row)).map(({ field, ...of }) => [
          field,
          of,
        ]),
      ),
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

/** The contract's columns of current versions, by id. */
async function loadCurrent<Row>(
  pool: Pool,
  table: VersionedTable<Row>,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Fields>> {
  const columns = table.columns.map(column => `${column}::text`).join(', ')
  const found = await pool.query(
    `select ${table.idColumn}::text as id_of_version, ${columns} from ${table.name}
     where account = $1 and valid_to is null and ${table.idColumn} = any ($2::${table.idType}[])`,
    [account, idArray(table, ids)],
  )
  return new Map(
    namedRowsOf(StoredRow, found).map(({ id_of_version, ...row }) => [
      id_of_version,
      Object.fromEntries(
        Object.entries(row).map(([name, text]) => [name, valueIn(text, table.kindOf(name))]),
      ),
    ]),
  )
}

/** Every column as text. */
const StoredRow = z.object({ id_of_version: z.string() }).catchall(z.string().nullable())

function storedRow(stored: ReadonlyMap<string, Fields>, id: string): Fields {
  const row = stored.get(id)
  if (!row) throw new Error(`the row ${id} was changed by another run while it was compared`)
  return row
}

function aboutRow(row: Fields): Pick<SampleDifference, 'name' | 'folder' | 'by'> {
  const { name = row.server_name, folder_id: folder, updater_name: by } = row
  return {
    name: typeof name === 'string' ? name : null,
    folder: typeof folder === 'bigint' ? folder : null,
    by: typeof by === 'string' ? by : null,
  }
}

/** The value of a column's text. */
function valueIn(text: string | null, kind: FieldKind): unknown {
  if (text === null) return null
  if (kind === 'labels' || kind === 'tools') return JSON.parse(text)
  if (kind === 'flag') return text === 'true'
  if (kind === 'int64') return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
  return kind === 'uint64' || kind === 'id64' ? BigInt(text) : text
}
