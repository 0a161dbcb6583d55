import type { InventoryContext } from '#src/inventory/context.ts'
import { type RunRequest, runSync } from '#src/inventory/runs/run.ts'
import { accountOf, withSource } from '#src/inventory/sources.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { RunResult } from '#src/model/run.ts'
import { loadOpenHold, rejectHold } from './holds.ts'

/** The run holds no removals that could be approved or rejected. */
export class NothingToApprove extends Error {
  override readonly name = 'NothingToApprove'
}

/**
 * Removes what run `runId` held. Reads the inventory again in the scope of that run, and removes only rows that are
 * still absent and have been held since then; the approval is recorded with their removal. Rows that only later runs hold stay
 * held. Throws `NothingToApprove`: if the hold ends while this waits for another run, too.
 */
export async function approveRun(
  context: InventoryContext,
  runId: bigint,
  by: ActedBy,
  signal: AbortSignal,
  options: Pick<RunRequest, 'waitsForOther'> = {},
): Promise<RunResult> {
  const find = async () => {
    const hold = await loadOpenHold(context.pool, runId)
    const later = new Set(hold?.added)
    const ids = (hold?.ids ?? []).filter(id => !later.has(id))
    if (!hold || ids.length === 0) throw nothingHeld(runId)
    return { hold, ids }
  }
  const { hold } = await find()
  const account = accountOf(context, hold.account)
  const approved = new Set<string>()
  // A run that this waited for may have listed some of the rows.
  const confirm = async () => {
    for (const id of (await find()).ids) approved.add(id)
  }
  const request = { account: hold.account, trigger: 'manual', by, confirm, ...options } as const
  const policy = { kind: 'approved', ids: approved, heldBy: runId, by } as const
  return withSource(account, hold.resource, hold.scope.folders?.map(BigInt), source =>
    runSync(context, source, request, policy, signal),
  )
}

/**
 * Ends the hold of run `runId` as wrong: the rows that it held are not gone, and are kept for as long as they stay absent. Once a
 * complete listing has had them again, they can be held again. Rows that only later runs hold stay held. Returns how many rows are
 * kept. Throws `NothingToApprove`.
 */
export async function rejectRun(
  { pool }: Pick<InventoryContext, 'pool'>,
  runId: bigint,
  by: ActedBy,
): Promise<number> {
  const kept = await rejectHold(pool, runId, by)
  if (kept === null) throw nothingHeld(runId)
  return kept
}

function nothingHeld(runId: bigint): NothingToApprove {
  return new NothingToApprove(
    `run ${runId} holds no removals: it is not a held run, or its hold was approved or rejected, or a later run ` +
      'found the rows again or looked at other folders. `ferry doctor` says what waits for a decision',
  )
}
