import { z } from 'zod'
import type { ImportContext } from '#src/imports/context.ts'
import type { InventoryContext } from '#src/inventory/context.ts'
import { type JobStatus, type RunResult, TRIGGERS } from '#src/model/run.ts'
import type { Retention } from '#src/model/settings.ts'

/*
 * A job is one thing that a worker does: a name, a payload and one call into the room that does the work. It has no
 * schedule (see `schedules.ts`) and does not know the queue.
 */

/** The context of a job. `ferry.ts` builds it. */
export type JobContext = InventoryContext & ImportContext & { readonly retention: Retention }

export type JobSignals = {
  /** Aborted: the worker drains. Nothing more is begun that can wait, and what is under way may finish. */
  readonly signal: AbortSignal
  /** Aborted: what is under way is cut off. */
  readonly cutOff: AbortSignal
}

/** The outcome of a job. */
export type JobOutcome = {
  readonly status: JobStatus
  /** The runs of inventories it made, which are logged. */
  readonly runs?: readonly RunResult[]
}

/** Throws a `ZodError` if the payload is not one of this job, and whatever fault the work meets. */
export type Job = {
  readonly name: string
  readonly run: (context: JobContext, payload: unknown, signals: JobSignals) => Promise<JobOutcome>
}

/** Makes a job that checks its payload before it runs: payloads come from the queue. */
export function defineJob<Payload>(job: {
  readonly name: string
  readonly payload: z.ZodType<Payload>
  readonly run: (context: JobContext, payload: Payload, signals: JobSignals) => Promise<JobOutcome>
}): Job {
  return {
    name: job.name,
    run: async (context, payload, signals) => job.run(context, job.payload.parse(payload), signals),
  }
}

/** The payload of a job that runs by a schedule. */
export const ScheduledPayload = z.object({
  account: z.string(),
  trigger: z.enum(TRIGGERS),
  /** The time it was due at; absent if a person asked for it. */
  slot: z.date().exactOptional(),
})
export type ScheduledPayload = z.infer<typeof ScheduledPayload>
