import type { InventoryContext } from '#src/inventory/context.ts'
import { type RunRequest, runSync } from '#src/inventory/runs/run.ts'
import { accountOf, withSource } from '#src/inventory/sources.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { RunResult } from '#src/model/run.ts'
import { expectHeld, loadOpenHold, rejectHold } from './holds.ts'

/** The run holds no removals that could be approved or rejected. */
export class NothingToApprove extends Error {
  override readonly name = 'NothingToApprove'
}

/** `seen` names the rows that the person has looked at (`nameOfHeld`): then only these are decided about. */
export type Seen = { readonly seen?: string | undefined }

export type ApproveOptions = Pick<RunRequest, 'waitsForOther'> & Seen

/**
 * Removes what run `runId` held. Reads the inventory again in the scope of that run, and removes only rows that are
 * still absent and were held; the approval is recorded with their removal. Throws `NothingToApprove`: if the hold ends while
 * this waits for another run, too. Throws `HoldChanged`: if the hold has rows that run `runId` did not hold, too.
 */
export async function approveRun(
  context: InventoryContext,
  runId: bigint,
  by: ActedBy,
  signal: AbortSignal,
  { seen, ...options }: ApproveOptions = {},
): Promise<RunResult> {
  const findHold = async () => {
    const hold = await loadOpenHold(context.pool, runId)
    if (!hold) throw nothingHeld(runId)
    return hold
  }
  const hold = await findHold()
  expectHeld(hold, runId, seen)
  const account = accountOf(context, hold.account)
  const request = { account: hold.account, trigger: 'manual', by, confirm: findHold, ...options } as const
  const policy = { kind: 'approved', ids: new Set(hold.ids), heldBy: runId, by } as const
  return withSource(account, hold.resource, hold.scope.folders?.map(BigInt), source =>
    runSync(context, source, request, policy, signal),
  )
}

/**
 * Ends the hold of run `runId` as wrong: its rows are not gone, and are kept for as long as they stay absent. Once a
 * complete listing has had them again, they can be held again. Returns how many rows these are. Throws `NothingToApprove` and
 * `HoldChanged`.
 */
export async function rejectRun(
  { pool }: Pick<InventoryContext, 'pool'>,
  runId: bigint,
  by: ActedBy,
  { seen }: Seen = {},
): Promise<number> {
  const kept = await rejectHold(pool, runId, by, seen)
  if (kept === null) throw nothingHeld(runId)
  return kept
}

function nothingHeld(runId: bigint): NothingToApprove {
  return new NothingToApprove(
    `run ${runId} holds no removals: it is not a held run, or its hold was approved or rejected, or a later complete ` +
      'listing found the rows again. `ferry runs list` shows the runs that are held',
  )
}
