/**
 * Which rows a listing had, and which rows are known from the runs before: a row whose text is known needs no parsing.
 *
 * A reading has one part for each listing it consists of. A part that is cut short is discarded, and its rows count as not
 * listed. What was learned counts from `commit` on: before, the run may fail.
 */
export type ListedRows = {
  /** How many ids there are, listed or known. */
  readonly size: number
  /** Begins a reading: nothing is listed. */
  startReading(): void
  startPart(): void
  discardPart(): void
  /** Returns the number of the row whose text has this digest, or -1 if no such row is known. */
  find(digest: string): number
  /** Lists a row that was found. False if its id is among `except`, or it is listed already. */
  listKnown(row: number, except: ReadonlySet<string>): boolean
  /** Lists an id, and returns the number of its row; -1 if it is listed already. */
  list(id: string): number
  isListed(id: string): boolean
  /** Whether it is the part under way that has listed this id. */
  isInPart(id: string): boolean
  /** What is known but not listed, including all rows that are current. Null if not all current rows are known. */
  unlisted(): readonly string[] | null
  /** No row is current, so all that will be are known. */
  nothingIsStored(): void
  /** How a row differs from what is known of it. Null if nothing is, or if it is not current. */
  recall(row: number, fingerprint: string): Recalled | null
  /** The row, which was listed, is so once the run is applied, and its text has this digest. */
  learn(row: number, digest: string, state: RowState): void
  /**
   * The run was applied: what was learned counts. `kept` are the other rows that are still current, or null if these are
   * not known; `removed` are current no longer.
   */
  commit(kept: readonly string[] | null, removed: readonly string[]): void
  /** The run was not applied. */
  rollback(): void
}

export type RowState = {
  readonly fingerprint: string
  /** Always false if the resource has no such state. */
  readonly isFiring: boolean
}

export type Recalled = { readonly isChanged: boolean; readonly wasFiring: boolean }

/** The ids of one reading, of any form. It knows nothing of the runs before. */
export function createIdSet(): ListedRows {
  let ids = new Set<string>()
  let part = new Set<string>()
  let isNothingStored = false
  return {
    get size() {
      return ids.size
    },
    startReading() {
      ids = new Set()
      part = new Set()
      isNothingStored = false
    },
    startPart() {
      part = new Set()
    },
    discardPart() {
      ids = ids.difference(part)
    },
    find: () => -1,
    listKnown: () => false,
    list(id) {
      if (ids.has(id)) return -1
      ids.add(id)
      part.add(id)
      return ids.size - 1
    },
    isListed: id => ids.has(id),
    isInPart: id => part.has(id),
    unlisted: () => (isNothingStored ? [] : null),
    nothingIsStored() {
      isNothingStored = true
    },
    recall: () => null,
    learn() {},
    commit() {},
    rollback() {},
  }
}
