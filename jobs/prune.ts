import { purgeOldImports } from '#src/imports/control.ts'
import { expireStagings } from '#src/imports/stage.ts'
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
    const pruned = await pruneStore(pool)
    const [stagings, purgedImports] = [await expireStagings(pool), await purgeOldImports(pool)]
    log.info({ ...pruned, stagings, purgedImports }, 'old rows were removed')
    return { status: 'succeeded' }
  },
}
