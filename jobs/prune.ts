import { z } from 'zod'
import { defineJob } from './job.ts'
import { removeOldRows } from './old-rows.ts'

/** Removes what nobody will ask for any more. */
export const prune = defineJob({
  name: 'prune',
  payload: z.object({}),
  async run(context, _, { signal }) {
    const removed = await removeOldRows(context, null, signal)
    context.log.info(
      Object.fromEntries(removed.map(({ table, rows }) => [table, rows])),
      'Old rows were removed.',
    )
    return { status: signal.aborted ? 'stopped' : 'succeeded' }
  },
})
