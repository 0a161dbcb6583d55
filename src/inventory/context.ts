import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { RemovalGuard } from '#src/model/removal-guard.ts'
import type { WorkLimit } from '#src/model/work-limit.ts'
import type { PlatformClient } from '#src/platform/client.ts'

/** What the inventory room needs of the outside; `ferry.ts` builds it. */
export type InventoryContext = {
  readonly pool: Pool
  readonly accounts: ReadonlyMap<string, InventoryAccount>
  readonly removalGuard: RemovalGuard
  /** Who works here, for leases: host and process, in words. */
  readonly holder: string
  readonly log: Logger
  /** Comparing and storing need memory and a connection: so many do that at once. Waiting for the platform needs neither. */
  readonly limitWork: WorkLimit
  /** How long the leases of its runs live, if not as long as usual. */
  readonly leaseMs?: number
}

export type InventoryAccount = {
  readonly name: string
  readonly client: PlatformClient
  /** The folders whose alert rules are listed; 0 stands for all the caller may view. */
  readonly folders: readonly bigint[]
  readonly pageLimit: number
  readonly includeAccount: boolean
  /** A hash of the app_key: a different key may see different rows, so it is part of a run's scope. */
  readonly keyHash: string
  /** Accounts of one group are counted together. */
  readonly limitGroup: string
}
