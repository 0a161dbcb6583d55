import { z } from 'zod'
import { pruneLeases } from '#src/db/lease-rows.ts'
import { pruneCalls } from '#src/db/prune-calls.ts'
import { IS_CALL_OF_BATCH, purgeOldImports } from '#src/imports/control/purge.ts'
import { expireStagings } from '#src/imports/staging/expire.ts'
import { pruneRuns } from '#src/inventory/prune.ts'
import { pruneSlots } from '#src/schedules/prune.ts'
import { defineJob } from './job.ts'

/** Removes what nobody will ask for any more. */
export const prune = defineJob({
  name: 'prune',
  payload: z.object({}),
  async run({ pool, log }) {
    const calls = await pruneCalls(pool, IS_CALL_OF_BATCH)
    const { runs, quarantined } = await pruneRuns(pool)
    const [slots, leases] = [await pruneSlots(pool), await pruneLeases(pool)]
    const [stagings, purgedImports] = [await expireStagings(pool), await purgeOldImports(pool)]
    log.info({ calls, runs, quarantined, slots, leases, stagings, purgedImports }, 'Old rows were removed.')
    return { status: 'succeeded' }
  },
})
