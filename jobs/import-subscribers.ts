import { z } from 'zod'
import type { WorkEnd } from '#src/imports/sending/send-batches.ts'
import { workImport } from '#src/imports/sending/work.ts'
import { defineJob, type JobOutcome } from './job.ts'

/** Imports that share a limit take turns: while another one waits, each makes this many calls at a time. */
const CALLS_A_TURN = 10

const OUTCOMES: Readonly<Record<WorkEnd, JobOutcome['status']>> = {
  completed: 'succeeded',
  cancelled: 'succeeded',
  paused: 'held',
  undecided: 'held',
  yielded: 'yielded',
  busy: 'skipped',
  waiting: 'skipped',
  stopped: 'stopped',
}

/** Sends an import until it ends, is paused, or others have their turn. */
export const importSubscribers = defineJob({
  name: 'import-subscribers',
  payload: z.object({ import: z.string().regex(/^\d+$/).transform(BigInt) }),
  async run(context, payload, signals) {
    const end = await workImport(context, payload.import, { ...signals, yieldAfterCalls: CALLS_A_TURN })
    return { status: OUTCOMES[end] }
  },
})
