import type { Resource } from '#src/model/resource.ts'
import type { RunResult } from '#src/model/run.ts'
import { alertRules } from './alert-rules.ts'
import type { InventoryAccount, InventoryContext } from './context.ts'
import { mcpServers } from './mcp-servers.ts'
import type { RemovalPolicy } from './removals.ts'
import { type RunRequest, runSync } from './run.ts'

export type SyncRequest = RunRequest & {
  readonly resource: Resource
  /** Instead of the folders configured for the account. */
  readonly folders?: readonly bigint[]
  /** A person looked and allows whatever removals this run finds. */
  readonly acceptRemovals?: boolean
}

/**
 * Syncs one inventory and returns what the ledger says of it. A refusal by the platform, a lost lease and an
 * interruption are results (`failed`); only faults of ours and an unreachable database throw.
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
  return request.resource === 'alert-rules'
    ? runSync(context, alertRules(account, request.folders), request, policy, signal)
    : runSync(context, mcpServers(account), request, policy, signal)
}

export function accountOf(context: InventoryContext, name: string): InventoryAccount {
  const account = context.accounts.get(name)
  if (!account)
    throw new Error(`no account is called ${name}; there are: ${[...context.accounts.keys()].join(', ')}`)
  return account
}
