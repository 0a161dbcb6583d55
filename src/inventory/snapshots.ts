import type { ActedBy } from '#src/model/act.ts'
import { RESOURCES } from '#src/model/resource.ts'
import type { RunResult, Trigger } from '#src/model/run.ts'
import type { InventoryContext } from './context.ts'
import { saveSnapshot } from './snapshot-table.ts'
import type { SnapshotStatus } from './states.ts'
import { syncInventory } from './sync.ts'

export type SnapshotResult = {
  readonly account: string
  /** Null if none was taken: a run failed or was skipped, or the slot has a snapshot already. */
  readonly snapshot: bigint | null
  readonly takenAt: Date | null
  /** The status of the worse run: how complete the snapshot is, or why there is none. */
  readonly status: SnapshotStatus | 'failed' | 'skipped'
  readonly runs: readonly RunResult[]
}

/** From the best to the worst. */
const BY_GRAVITY = ['succeeded', 'partial', 'held', 'skipped', 'failed'] as const

/**
 * Syncs both inventories of an account, then names the instant. Waits while another run syncs one of them. If a run fails
 * or is skipped, there is no snapshot: what is stored then is older than the snapshot would say.
 */
export async function takeSnapshot(
  context: InventoryContext,
  request: {
    readonly account: string
    readonly trigger: Trigger
    readonly slot?: Date
    readonly by?: ActedBy
  },
  signal: AbortSignal,
): Promise<SnapshotResult> {
  const runs = await Promise.all(
    RESOURCES.map(resource => syncInventory(context, { ...request, resource, waitsForOther: true }, signal)),
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
