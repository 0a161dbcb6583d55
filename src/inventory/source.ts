import type { Listing } from '#src/model/listing.ts'
import type { Resource } from '#src/model/resource.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import type { Scope } from '#src/store/runs.ts'
import type { VersionedTable } from '#src/store/versioned-tables.ts'

/** How one inventory of one account is read, and where it is kept. */
export type Source<Row> = {
  readonly resource: Resource
  readonly table: VersionedTable<Row>
  readonly scope: Scope
  /** The folders whose rows this source lists, or null for the whole account. */
  readonly folders: readonly bigint[] | null
  /** The definition of a row as one text, the same whatever the order of keys. */
  canonical(row: Row): string
  /** What to note beside a row, see `alertRuleFlags`; a source has its own memory for it. */
  flagsOf(row: Row): readonly string[] | undefined
  /** Whether the row is in alarm; null where a resource knows no such state. */
  readonly isFiring: ((row: Row) => boolean) | null
  read(request: ReadRequest): Promise<Reading<Row>>
}

export type ReadRequest = {
  readonly runId: bigint | null
  readonly signal: AbortSignal
  /** Hashes of the data that the last run applied, in the order of the calls; empty if they may not be relied on. */
  readonly trustedHashes: readonly string[]
  /** Whether these are exactly the ids stored as current. */
  isKnownSet(ids: ReadonlySet<string>): Promise<boolean>
}

/** What reading an inventory came to. */
export type Reading<Row> = { readonly requests: number; readonly pages: number } & (
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'identical' }
  | {
      readonly kind: 'read'
      readonly listing: Listing<Row>
      /** Why nothing may be concluded from what is absent; null for a complete listing. */
      readonly incomplete: string | null
      /** Two listings agreed on the ids, so absence is certain without another reading. */
      readonly confirmed: boolean
      readonly dataHashes: readonly string[] | null
    }
)
