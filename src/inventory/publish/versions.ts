import type { PoolClient } from 'pg'
import { BinaryRows, rowStart } from '#src/db/binary-rows.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import type { Appearance } from '#src/inventory/states.ts'
import { idArray, type VersionedTable } from '#src/inventory/versioned-tables.ts'
import { counted } from '#src/model/counted.ts'
import type { WrittenRow } from '#src/platform/written-row.ts'

/** Ends the current versions of `ids` at the instant `at`. Throws if one of them is missing. */
export async function closeVersions<Row>(
  client: PoolClient,
  table: VersionedTable<Row>,
  run: Pick<RunStep, 'account' | 'runId' | 'at'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const closed = await client.query(
    `update ${table.name} set valid_to = $3, closed_by_run = $2
     where account = $1 and valid_to is null and ${table.idColumn} = any ($4::${table.idType}[])`,
    [run.account, run.runId, run.at, idArray(table, ids)],
  )
  if (closed.rowCount !== ids.length) {
    throw new Error(
      `${counted(ids.length, 'version was', 'versions were')} to be closed in ${table.name}, and ${closed.rowCount} could be`,
    )
  }
}

/** A row, and what its version records beside it. */
export type NewVersion<Row> = {
  readonly id: string
  readonly row: Row
  readonly flags: readonly string[] | undefined
  readonly altered: readonly string[]
  readonly written: WrittenRow
}

const COLUMNS = ['opened_by_run', 'account', 'valid_from', 'fingerprint', 'flags', 'altered', 'appeared']
/** How many bytes are written at a time. */
const BLOCK_BYTES = 128 * 1024

/** What `versionRows` are written into. */
export function copyTarget<Row>({ name, definition }: VersionedTable<Row>): string {
  return `${name} (${[...COLUMNS, ...definition].join(', ')})`
}

/**
 * Yields blocks for `OpenCopy`, with a row for each version that begins at the instant `at`. `appearanceOf` says how
 * rows without a current version appeared. They come in the order of their ids: in a random one, Postgres takes a tenth more
 * time.
 */
export function* versionRows<Row>(
  { definition }: VersionedTable<Row>,
  run: Pick<RunStep, 'account' | 'runId' | 'at'>,
  versions: readonly NewVersion<Row>[],
  appearanceOf: (row: Row) => Appearance | null = () => null,
): Generator<Buffer> {
  const rows = new BinaryRows(BLOCK_BYTES / 4)
  const start = rowStart(COLUMNS.length + definition.length, run.runId)
  const from = microsecondsOf(run.at)
  const sorted = versions.toSorted((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1))
  for (const { row, flags, altered, written } of sorted) {
    rows.begin(start)
    rows.text(run.account)
    rows.integer(from)
    rows.uuid(written.fingerprint)
    rows.texts(flags ?? [])
    rows.texts(altered)
    rows.text(appearanceOf(row))
    rows.columns(written.columns())
    if (rows.size >= BLOCK_BYTES) yield rows.take()
  }
  if (rows.size > 0) yield rows.take()
}

/** Postgres counts from the year 2000. */
const EPOCH = Temporal.Instant.from('2000-01-01T00:00Z')

/** Returns an instant that Postgres wrote as it is in binary. */
function microsecondsOf(at: string): number {
  return EPOCH.until(at, { largestUnit: 'microseconds' }).microseconds
}
