import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { OwnCall } from '#src/db/known-database.ts'
import type { CallObserver } from '#src/model/call.ts'
import type { DatabaseChange } from '#src/model/database-change.ts'
import type { Limit } from '#src/model/limit.ts'
import type { WorkLimit } from '#src/model/work-limit.ts'
import type { PlatformClient } from '#src/platform/client.ts'

/** What the imports room needs from outside; `ferry.ts` builds it. */
export type ImportContext = {
  readonly pool: Pool
  readonly accounts: ReadonlyMap<string, ImportAccount>
  /** The holder of leases taken here: host and process, in words. */
  readonly holder: string
  readonly log: Logger
  /** Bounds how many imports start at once: each holds a connection while it starts. */
  readonly limitWork: WorkLimit
  /** `FERRY_ARRIVAL_BOUND` and `FERRY_REQUEST_TIMEOUT`. */
  readonly arrivalBoundMs: number
  readonly requestTimeoutMs: number
  /** Remembers each call that has ended. */
  readonly ownCall: OwnCall
  /** Records that this is not the database that Ferry knew, if so, and holds its imports. Null if it is the known one. */
  readonly noticeDatabase: () => Promise<DatabaseChange | null>
  readonly observer?: CallObserver | undefined
}

export type ImportAccount = {
  readonly name: string
  readonly client: PlatformClient
  /** The limit of this account's imports, and the key under which the platform counts them. */
  readonly importLimit: Limit
}
