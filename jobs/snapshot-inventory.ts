import { takeSnapshot } from '#src/inventory/snapshots.ts'
import type { QueuedJob } from '#src/queue/job.ts'

const MINUTE = 60_000

/**
 * Takes the nightly snapshot of an account: there is one a night, so it is worth several attempts. The first one is taken
 * at once.
 */
export const snapshotInventory: QueuedJob = {
  name: 'snapshot-inventory',
  perAccount: true,
  timing: ({ nightlyCron, timezone }) => ({ cron: nightlyCron, timezone }),
  beginsAtOnce: true,
  retryAfterMs: [1 * MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE],
  skippedAgainAfterMs: 1 * MINUTE,
  run: takeSnapshot,
}
