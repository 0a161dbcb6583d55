import type { Pool } from 'pg'
import type { ListedRows, Recalled, RowState } from '#src/inventory/read/listed-rows.ts'
import type { InventorySource } from '#src/inventory/source.ts'
import type { GoodRow } from '#src/platform/listing.ts'
import { compareWithCurrent, type Differences, hasCurrent, type ListedState } from './current-versions.ts'
import type { NewVersion } from './versions.ts'

/** What some rows of a listing change. */
export type Changes<Row> = {
  readonly added: readonly NewVersion<Row>[]
  readonly changed: readonly NewVersion<Row>[]
  /** Ids of the rules that began to fire, and of those that recovered. */
  readonly began: readonly string[]
  readonly ended: readonly string[]
  /** About how many bytes all of it takes. */
  readonly bytes: number
}

/** Takes the changes of a listing while it is being read. */
export type ChangeSink<Row> = {
  /** A part of the reading begins. */
  mark(): Promise<void>
  /** What was written since the last mark is forgotten. */
  rewind(): Promise<void>
  write(changes: Changes<Row>): Promise<void>
}

/** A row that was listed, as it is now and as it is known to have been; null if it is not known. */
export type ComparedRow<Row> = Pick<GoodRow<Row>, 'id' | 'row' | 'altered' | 'bytes' | 'written'> & {
  readonly state: RowState
  readonly before: Recalled | null
}

/** Compares rows with what is stored. Writes nothing. */
export type Compare<Row> = (rows: readonly ComparedRow<Row>[]) => Promise<Changes<Row>>

/** Returns what compares the rows of one listing, some at a time. Postgres is asked only about rows that are not known. */
export function comparer<Row>(
  pool: Pool,
  source: InventorySource<Row>,
  account: string,
  listed: Pick<ListedRows, 'nothingIsStored'>,
): Compare<Row> {
  const { table, isFiring } = source
  let isAnythingStored: Promise<boolean> | undefined

  async function lookForAny(): Promise<boolean> {
    const isAny = await hasCurrent(pool, table, account)
    if (!isAny) listed.nothingIsStored()
    return isAny
  }

  async function compareUnknown(rows: readonly ListedState[]): Promise<Differences> {
    isAnythingStored ??= lookForAny()
    if (await isAnythingStored) return compareWithCurrent(pool, table, account, rows, isFiring !== null)
    const all = [...rows.keys()]
    return { added: all, changed: [], began: all.filter(n => rows[n]?.isFiring), ended: [] }
  }

  return async rows => {
    const { found, unknown } = recallRows(rows)
    if (unknown.length > 0) {
      const all = await compareUnknown(unknown.map(n => ({ id: at(rows, n).id, ...at(rows, n).state })))
      for (const kind of KINDS) for (const n of all[kind]) found[kind].push(at(unknown, n))
    }
    return changesOf(source, rows, found)
  }
}

/** What the memory of earlier runs says of the rows, and the rows that it does not know. */
function recallRows<Row>(rows: readonly ComparedRow<Row>[]): { found: Differences; unknown: number[] } {
  const found: Differences = { added: [], changed: [], began: [], ended: [] }
  const unknown: number[] = []
  for (const [n, { state, before }] of rows.entries()) {
    if (before === null) unknown.push(n)
    else {
      if (before.isChanged) found.changed.push(n)
      if (state.isFiring && !before.wasFiring) found.began.push(n)
      if (!state.isFiring && before.wasFiring) found.ended.push(n)
    }
  }
  return { found, unknown }
}

/** The versions that rows which differ open, and the firings. */
function changesOf<Row>(
  { flagsOf }: Pick<InventorySource<Row>, 'flagsOf'>,
  rows: readonly ComparedRow<Row>[],
  found: Differences,
): Changes<Row> {
  const versionAt = (n: number): NewVersion<Row> => {
    const { id, row, altered, written } = at(rows, n)
    return { id, row, flags: flagsOf(row), altered, written }
  }
  return {
    added: found.added.map(versionAt),
    changed: found.changed.map(versionAt),
    began: found.began.map(n => at(rows, n).id),
    ended: found.ended.map(n => at(rows, n).id),
    bytes: [...found.added, ...found.changed].reduce((sum, n) => sum + at(rows, n).bytes, 0),
  }
}

const KINDS = ['added', 'changed', 'began', 'ended'] as const

function at<T>(values: readonly T[], n: number): T {
  const value = values[n]
  if (value === undefined) throw new Error(`the comparison named row ${n} of ${values.length}`)
  return value
}
