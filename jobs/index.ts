import { importSubscribers } from './import-subscribers.ts'
import type { Job } from './job.ts'
import { pollAlertRules } from './poll-alert-rules.ts'
import { pollMcpServers } from './poll-mcp-servers.ts'
import { prune } from './prune.ts'
import { snapshotInventory } from './snapshot-inventory.ts'

/**
 * All jobs, with their triggers:
 *
 *     poll-alert-rules     its schedule   each account
 *     poll-mcp-servers     its schedule   each account, unless it is off
 *     snapshot-inventory   its schedule   each account
 *     prune                its schedule   once for all accounts
 *     import-subscribers   a wake-up      each import that is confirmed, resumed, or found waiting
 */
export const JOBS: readonly Job[] = [
  pollAlertRules,
  pollMcpServers,
  snapshotInventory,
  prune,
  importSubscribers,
]
