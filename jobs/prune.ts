import type { QueuedJob } from '#src/queue/job.ts'
import { prune as pruneStore } from '#src/store/prune.ts'

/** Removes what nobody will ask for any more. Misses do no harm, so it is tried once a day and not again. */
export const prune: QueuedJob = {
  name: 'prune',
  perAccount: false,
  timing: ({ timezone }) => ({ cron: '15 4 * * *', timezone }),
  retryAfterMs: [],
  skippedAgainAfterMs: null,
  async run({ pool, log }) {
    log.info(await pruneStore(pool), 'old rows were removed')
    return { status: 'succeeded' }
  },
}
