import type { RunResult } from '#src/model/run.ts'
import { loadOpenHold, rejectHold } from '#src/store/holds.ts'
import { alertRules } from './alert-rules.ts'
import type { InventoryContext } from './context.ts'
import { mcpServers } from './mcp-servers.ts'
import { runSync } from './run.ts'
import { accountOf } from './sync.ts'

/** The run holds nothing that could be approved or rejected (any more). */
export class NothingToApprove extends Error {
  override readonly name = 'NothingToApprove'
}

/**
 * Carries out the removals that run `runId` held, after a person looked: reads the inventory again, in the scope of
 * that run, and removes only what is still absent and was in the hold. Throws `NothingToApprove`.
 */
export async function approveRun(
  context: InventoryContext,
  runId: bigint,
  signal: AbortSignal,
): Promise<RunResult> {
  const hold = await loadOpenHold(context.pool, runId)
  if (!hold) throw nothingHeld(runId)
  const account = accountOf(context, hold.account)
  const request = { account: hold.account, trigger: 'manual' } as const
  const policy = { kind: 'approved', ids: new Set(hold.ids) } as const
  return hold.resource === 'alert-rules'
    ? runSync(context, alertRules(account, hold.scope.folders?.map(BigInt)), request, policy, signal)
    : runSync(context, mcpServers(account), request, policy, signal)
}

/**
 * Ends the hold of run `runId` as wrong: its rows are not gone, and are kept however long they stay absent. Once a
 * complete listing has had them again, they can be held anew. Returns how many they are. Throws `NothingToApprove`.
 */
export async function rejectRun(
  { pool }: Pick<InventoryContext, 'pool'>,
  runId: bigint,
  by: string,
): Promise<number> {
  const kept = await rejectHold(pool, runId, by)
  if (kept === null) throw nothingHeld(runId)
  return kept
}

function nothingHeld(runId: bigint): NothingToApprove {
  return new NothingToApprove(
    `run ${runId} holds no removals: it is not a held run, or its hold was approved or rejected, or a later complete ` +
      'listing found the rows again. `ferry runs list` shows the runs that are held',
  )
}
