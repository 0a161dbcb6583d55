import type { ListedRows } from '#src/inventory/read/listed-rows.ts'
import type { Integer } from '#src/model/fields.ts'
import type { Resource } from '#src/model/resource.ts'
import type { FindKnown, Listing } from '#src/platform/listing.ts'
import type { Scope } from './scope.ts'
import type { VersionedTable } from './versioned-tables.ts'

/** How one inventory of one account is read, and where it is stored. */
export type InventorySource<Row> = {
  readonly resource: Resource
  readonly table: VersionedTable<Row>
  readonly scope: Scope
  /** The folders whose rows this source lists, or null for the whole account. */
  readonly folders: readonly bigint[] | null
  /** What its version records of a row that breaks the contract's rules, see `alertRuleFlags`. */
  flagsOf(row: Row): readonly string[] | undefined
  /** Whether the row fires; null if the resource has no such state. */
  readonly isFiring: ((row: Row) => boolean) | null
  /** The account of the platform that the row names. */
  accountIdOf(row: Row): Integer | null
  /** Makes what keeps the ids of this resource. */
  createListedRows(): ListedRows
  /** Lists the inventory: one listing after the other. */
  list(request: ListRequest): Listing<Row>
}

export type ListRequest = {
  readonly runId: bigint | null
  readonly signal: AbortSignal
  readonly find: FindKnown
  /** Whether these are exactly the ids stored as current. */
  isKnownSet(ids: ReadonlySet<string>): Promise<boolean>
}
