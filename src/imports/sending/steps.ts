import type { Lease } from '#src/db/leases.ts'
import { retryTransient } from '#src/db/retry.ts'
import type { Permit } from '#src/model/call.ts'
import { type BatchRow, loadRows } from './batch-in-flight.ts'
import {
  type ClaimContext,
  type ClaimRequest,
  type ClaimResult,
  claimBatch,
  releaseUnsent,
  returnPermit,
} from './claims.ts'
import { type EndResult, endImport } from './end-import.ts'
import type { SendState } from './import-state.ts'
import { type CallOutcome, persistOutcome } from './persist-outcome.ts'
import { type Started, startImport } from './start.ts'

/**
 * The answer of the platform is worth a long wait for a Postgres that is away: without it the batch would be sent again,
 * or a person asked. To record it late does no harm: what is certain of a claim that was reclaimed meanwhile is recorded, and
 * nothing else.
 */
const RETRY_OUTCOME_FOR_MS = 600_000

/** The steps of the work on an import in Postgres. Each may be repeated, and is repeated while Postgres is away. */
export type Steps = {
  start(lease: Lease, signal: AbortSignal): Promise<Started | null>
  claim(request: ClaimRequest): Promise<ClaimResult>
  returnPermit(claim: string, permit: Permit): Promise<void>
  loadRows(batchId: bigint): Promise<BatchRow[]>
  /** `cutOff` ends the retries of an outcome. */
  persistOutcome(outcome: CallOutcome): Promise<SendState>
  end(): Promise<EndResult>
  releaseUnsent(claim: string): Promise<void>
}

export function stepsOf(context: ClaimContext, cutOff: AbortSignal): Steps {
  const { pool, importId } = context
  return {
    start: repeated((lease, signal) => startImport(pool, importId, lease, signal)),
    claim: repeated(request => claimBatch(context, request)),
    returnPermit: repeated((claim, permit) => returnPermit(context, claim, permit)),
    loadRows: repeated(batchId => loadRows(pool, batchId)),
    persistOutcome: repeated(outcome => persistOutcome(context, outcome), {
      retryForMs: RETRY_OUTCOME_FOR_MS,
      signal: cutOff,
    }),
    end: repeated(() => endImport(context)),
    releaseUnsent: repeated(claim => releaseUnsent(context, claim)),
  }
}

/** The only place of this room that tries again while Postgres is away. */
function repeated<Args extends unknown[], T>(
  step: (...args: Args) => Promise<T>,
  retry?: { readonly retryForMs: number; readonly signal: AbortSignal },
): (...args: Args) => Promise<T> {
  return (...args) => retryTransient(() => step(...args), retry)
}
