import type { Listing } from '#src/model/listing.ts'
import type { Resource } from '#src/model/resource.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import type { Scope } from './scope.ts'
import type { VersionedTable } from './versioned-tables.ts'

/** How one inventory of one account is read, and where it is stored. */
export type InventorySource<Row> = {
  readonly resource: Resource
  readonly table: VersionedTable<Row>
  readonly scope: Scope
  /** The folders whose rows this source lists, or null for the whole account. */
  readonly folders: readonly bigint[] | null
  /** The definition of a row as one text, the same whatever the order of keys. */
  canonical(row: Row): string
  /** What its version records of a row that breaks the contract's rules, see `alertRuleFlags`. */
  flagsOf(row: Row): readonly string[] | undefined
  /** Whether the row fires; null if the resource has no such state. */
  readonly isFiring: ((row: Row) => boolean) | null
  read(request: ReadRequest): Promise<Reading<Row>>
}

export type ReadRequest = {
  readonly runId: bigint | null
  readonly signal: AbortSignal
  /** Hashes of the data that the last run applied, in the order of the calls; empty if they must not be relied on. */
  readonly trustedHashes: readonly string[]
  /** Whether these are exactly the ids stored as current. */
  isKnownSet(ids: ReadonlySet<string>): Promise<boolean>
}

/** The result of reading an inventory. */
export type Reading<Row> = { readonly requests: number; readonly pages: number } & (
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'identical' }
  | {
      readonly kind: 'read'
      readonly listing: Listing<Row>
      /** Why nothing follows from absent rows; null for a complete listing. */
      readonly incomplete: string | null
      /** Two listings agreed on the ids, so absence is certain without another reading. */
      readonly confirmed: boolean
      readonly dataHashes: readonly string[] | null
    }
)
