import { z } from 'zod'
import { TRIGGERS } from '#src/model/run.ts'

/** What a job is told that a schedule sets off. */
export const ScheduledPayload = z.object({
  account: z.string(),
  trigger: z.enum(TRIGGERS),
  /** The time it was due at; absent if a person asked for it. */
  slot: z.date().exactOptional(),
})
export type ScheduledPayload = z.infer<typeof ScheduledPayload>
