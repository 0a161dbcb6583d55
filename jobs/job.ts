import type { z } from 'zod'
import type { ImportContext } from '#src/imports/context.ts'
import type { InventoryContext } from '#src/inventory/context.ts'
import type { Retention } from '#src/model/retention.ts'
import type { RunResult, RunStatus } from '#src/model/run.ts'

/*
 * A job is one thing that a worker does: a name, a payload and one call into the room that does the work. It has no
 * schedule (see `schedules.ts`) and does not know the queue.
 */

/** What a job is given to work with. `ferry.ts` builds it. */
export type JobContext = InventoryContext & ImportContext & { readonly retention: Retention }

export type JobSignals = {
  /** Aborted: the worker drains. Nothing more is begun that can wait, and what is under way may finish. */
  readonly signal: AbortSignal
  /** Aborted: what is under way is cut off. */
  readonly cutOff: AbortSignal
}

/**
 * What a job came to.
 *
 *   succeeded, partial   what could be done is stored
 *   held      what could be done is stored; a person has to decide how it goes on
 *   failed    nothing was stored; it is tried again as its schedule says
 *   skipped   nothing was done: another worker is processing the same, or it has to wait
 *   yielded   it stopped early so that others have their turn; there is more to do
 *   stopped   it stopped early because the worker drains
 */
export type JobOutcome = {
  readonly status: Exclude<RunStatus, 'running'> | 'yielded' | 'stopped'
  /** The runs of inventories it made: what became of them is logged. */
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
