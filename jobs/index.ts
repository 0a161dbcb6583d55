import type { Job } from '#src/queue/job.ts'
import { importSubscribers } from './import-subscribers.ts'
import { pollAlertRules } from './poll-alert-rules.ts'
import { prune } from './prune.ts'
import { reconcile } from './reconcile.ts'
import { snapshotInventory } from './snapshot-inventory.ts'

/**
 * All that Ferry does by itself.
 *
 *     poll-alert-rules     every FERRY_POLL_EVERY     each account
 *     snapshot-inventory   FERRY_NIGHTLY_CRON         each account
 *     import-subscribers   when confirmed, resumed    each import
 *     prune                04:15                      once for all
 *     reconcile            when due, and every 5 s    each worker
 */
export const JOBS: readonly Job[] = [pollAlertRules, snapshotInventory, importSubscribers, prune, reconcile]
