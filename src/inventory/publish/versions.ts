import type { PoolClient } from 'pg'
import { copyField, textArray } from '#src/db/copy.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import type { Appearance } from '#src/inventory/states.ts'
import { idArray, type VersionedTable } from '#src/inventory/versioned-tables.ts'
import { hexOf } from '#src/model/fingerprint.ts'

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
      `${ids.length} versions were to be closed in ${table.name}, ${closed.rowCount} were there`,
    )
  }
}

/** A row, and what its version records beside it. */
export type NewVersion<Row> = {
  readonly id: string
  readonly row: Row
  readonly fingerprint: string
  readonly flags: readonly string[] | undefined
  readonly altered: readonly string[] | undefined
  /** See `WrittenRow`; undefined if they are yet to be written. */
  readonly columns?: string | undefined
}

/** What `versionLines` are written into. */
export function copyTarget<Row>({ name, idColumn, columns }: VersionedTable<Row>): string {
  return `${name} (account, valid_from, opened_by_run, ${idColumn}, fingerprint, flags, altered, appeared, ${columns.join(', ')})`
}

/**
 * Yields a line of COPY for each version that begins at the instant `at`, one character for each byte. `appearanceOf` says how
 * rows without a current version appeared. They come in the order of their ids: in a random one, Postgres takes a tenth more
 * time.
 */
export function* versionLines<Row>(
  table: VersionedTable<Row>,
  run: Pick<RunStep, 'account' | 'runId' | 'at'>,
  versions: readonly NewVersion<Row>[],
  appearanceOf: (row: Row) => Appearance | null = () => null,
): Generator<string> {
  const shared = bytesOf(`${copyField(run.account)}\t${run.at}\t${run.runId}\t`)
  const sorted = versions.toSorted((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1))
  const fingerprints = hexOf(sorted.map(({ fingerprint }) => fingerprint))
  for (const [n, { id, row, flags, altered, columns }] of sorted.entries()) {
    const about = `${copyField(textArray(flags))}\t${copyField(textArray(altered))}\t${copyField(appearanceOf(row))}`
    const written =
      columns ?? bytesOf(table.columns.map(column => `\t${copyField(table.textOf(row, column))}`).join(''))
    yield `${shared}${bytesOf(copyField(id))}\t${fingerprints[n]}\t${bytesOf(about)}${written}\n`
  }
}

/** Returns the bytes of a text, one character each. */
function bytesOf(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text
}

const NOT_ASCII = /\P{ASCII}/u
