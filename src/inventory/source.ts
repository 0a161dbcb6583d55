import type { Integer } from '#src/model/alert-rule.ts'
import type { Drift } from '#src/model/listing.ts'
import type { Resource } from '#src/model/resource.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import type { RowSink } from '#src/platform/row-sink.ts'
import type { ListedRows } from './listed-rows.ts'
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
  /** The account of the platform that the row names. */
  accountIdOf(row: Row): Integer | null
  /** Makes what keeps the ids of this resource. */
  createListedRows(): ListedRows
  /** Reads the inventory, and hands its rows over while they come. Rejects with what taking them rejects with. */
  read(request: ReadRequest<Row>): Promise<ReadResult>
}

export type ReadRequest<Row> = {
  readonly runId: bigint | null
  readonly signal: AbortSignal
  /** Where the rows of the next listing go, see `Reading`. */
  part(previous?: Promise<unknown>): RowSink<Row>
  /** Whether these are exactly the ids stored as current. */
  isKnownSet(ids: ReadonlySet<string>): Promise<boolean>
}

/** The result of reading an inventory: what is to be known beside its rows. */
export type ReadResult = { readonly requests: number; readonly pages: number } & (
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | {
      readonly kind: 'read'
      readonly drift: readonly Drift[]
      /** Why nothing follows from absent rows; null for a complete listing. */
      readonly incomplete: string | null
      /** Two listings agreed on the ids, so absence is certain without another reading. */
      readonly confirmed: boolean
      /** One for each call, in their order. Equal hashes mean equal data. Null if there are none. */
      readonly dataHashes: readonly string[] | null
    }
)
