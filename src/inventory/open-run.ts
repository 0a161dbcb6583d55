import type { Lease } from '#src/db/leases.ts'
import type { RemovalPolicy } from './decide.ts'

/** A run under way: what it is about, and what it has asked of the platform so far. */
export type OpenRun = {
  readonly id: bigint
  readonly account: string
  readonly lease: Lease
  readonly policy: RemovalPolicy
  requests: number
  pages: number
}
