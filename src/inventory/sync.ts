import type { RemovalPolicy } from '#src/inventory/publish/decide.ts'
import { type RunRequest, runSync } from '#src/inventory/runs/run.ts'
import type { Resource } from '#src/model/resource.ts'
import type { RunResult } from '#src/model/run.ts'
import type { InventoryContext } from './context.ts'
import { accountOf, withSource } from './sources.ts'

export type SyncRequest = RunRequest & {
  readonly resource: Resource
  /** Instead of the folders configured for the account. */
  readonly folders?: readonly bigint[]
  /** A person allows whatever removals this run finds. */
  readonly acceptRemovals?: boolean
}

/**
 * Syncs one inventory and returns how the run ended. A refusal by the platform, a lost lease and an interruption are
 * results (`failed`). Throws for faults of Ferry and if the database cannot be reached.
 */
export function syncInventory(
  context: InventoryContext,
  request: SyncRequest,
  signal: AbortSignal,
): Promise<RunResult> {
  const account = accountOf(context, request.account)
  const policy: RemovalPolicy = request.acceptRemovals
    ? { kind: 'accepted' }
    : { kind: 'guarded', guard: context.removalGuard }
  return withSource(account, request.resource, request.folders, source =>
    runSync(context, source, request, policy, signal),
  )
}
