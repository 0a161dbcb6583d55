import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { KnownRows } from '#src/inventory/read/known-rows.ts'
import type { RemovalGuard } from '#src/model/removal-guard.ts'
import type { WorkLimit } from '#src/model/work-limit.ts'
import type { PlatformClient } from '#src/platform/client.ts'

/** What this room needs; `ferry.ts` builds it. */
export type InventoryContext = {
  readonly pool: Pool
  readonly accounts: ReadonlyMap<string, InventoryAccount>
  readonly removalGuard: RemovalGuard
  /** The holder of leases: host and process, for people. */
  readonly holder: string
  readonly log: Logger
  /** Limits how many runs write at once: each needs a connection. A run with few changes writes only at its end. */
  readonly limitWork: WorkLimit
  /** The same for transactions that stay open while the platform answers. */
  readonly limitLongWork: WorkLimit
  /** What this process knows of the rows that it applied last. */
  readonly knownRows: KnownRows
  /** How long the leases of runs live, if not `LEASE_MS`. */
  readonly leaseMs?: number
  /** How long a run may take, and how long one waits for another, if not `RUN_LIMIT_MS`. */
  readonly runLimitMs?: number
}

export type InventoryAccount = {
  readonly name: string
  readonly client: PlatformClient
  /** The folders whose alert rules are listed; 0 stands for every folder the key can view. */
  readonly folders: readonly bigint[]
  readonly pageLimit: number
  readonly includeAccount: boolean
  /** A hash of the app_key. It is part of a run's scope, because another key may see other rows. */
  readonly keyHash: string
  /** The calls of accounts with the same group are counted together. */
  readonly limitGroup: string
}
