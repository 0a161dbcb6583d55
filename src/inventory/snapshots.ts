import { RESOURCES } from '#src/model/resource.ts'
import type { RunResult, Trigger } from '#src/model/run.ts'
import { type SnapshotStatus, saveSnapshot } from '#src/store/snapshots.ts'
import type { InventoryContext } from './context.ts'
import { syncInventory } from './sync.ts'

export type SnapshotResult = {
  readonly account: string
  /** Null if none was taken: a run failed or was skipped, or the slot has its snapshot already. */
  readonly snapshot: bigint | null
  readonly takenAt: Date | null
  /** Of a snapshot taken, how complete it is; otherwise what came of the worse run. */
  readonly status: SnapshotStatus | 'failed' | 'skipped'
  readonly runs: readonly RunResult[]
}

/** From the best to the worst. */
const BY_GRAVITY = ['succeeded', 'partial', 'held', 'skipped', 'failed'] as const

/**
 * Syncs both inventories of an account, then names the instant; waits for its turn where a poll is under way. A run that failed or was skipped leaves no
 * snapshot, since what is stored then is older than the name would say.
 */
export async function takeSnapshot(
  context: InventoryContext,
  request: { readonly account: string; readonly trigger: Trigger; readonly slot?: Date },
  signal: AbortSignal,
): Promise<SnapshotResult> {
  const runs = await Promise.all(
    RESOURCES.map(resource => syncInventory(context, { ...request, resource, patient: true }, signal)),
  )
  const status = BY_GRAVITY.findLast(word => runs.some(run => run.status === word)) ?? 'failed'
  const none = { account: request.account, snapshot: null, takenAt: null, status, runs }
  const [alertRules, mcpServers] = runs
  if (status === 'failed' || status === 'skipped' || !alertRules || !mcpServers) return none
  const saved = await saveSnapshot(context.pool, {
    account: request.account,
    slot: request.slot ?? null,
    status,
    alertRulesRun: alertRules.run,
    mcpServersRun: mcpServers.run,
  })
  return saved ? { ...none, snapshot: saved.id, takenAt: saved.takenAt } : none
}
