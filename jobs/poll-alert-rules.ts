import { syncInventory } from '#src/inventory/sync.ts'
import type { QueuedJob } from '#src/queue/job.ts'

/** Keeps the alert rules of an account current. One that fails or is skipped is followed by the next soon enough. */
export const pollAlertRules: QueuedJob = {
  name: 'poll-alert-rules',
  perAccount: true,
  timing: ({ pollEveryMs }) => ({ everyMs: pollEveryMs }),
  retryAfterMs: [],
  skippedAgainAfterMs: null,
  async run(ferry, call, signal) {
    const run = await syncInventory(ferry, { ...call, resource: 'alert-rules' }, signal)
    return { status: run.status, runs: [run] }
  },
}
