import { OwnCall } from '#src/db/known-database.ts'
import { type ClaimContext, claimBatch, newClaim } from '#src/imports/sending/claims.ts'
import type { Limit } from '#src/model/limit.ts'
import { ageImport } from '#test/support/age-import.ts'
import { holdLease } from '#test/support/leases.ts'
import type { ImportHarness } from '../import-harness.ts'

/** Claims batches of a running import of its own, of some account, under some limit. */
export async function claimerOf({ ferry, stage }: ImportHarness, account: string, limit: Limit) {
  const importId = await stage({ rows: 9, batchRows: 1, account, status: 'running' })
  const lease = await holdLease(ferry.pool, `test:${importId}`)
  const context: ClaimContext = {
    pool: ferry.pool,
    importId,
    account,
    lease,
    limit,
    arrivalBoundMs: 500,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
    claimMs: 60_000,
  }
  return {
    importId,
    claim: async () => (await claimBatch(context, newClaim())).what,
    /** Lets so much time pass for its calls that the limit is open again; whoever else has asked is still waiting. */
    leaveWindow: () => ageImport(ferry.pool, importId, '1 minute'),
  }
}
