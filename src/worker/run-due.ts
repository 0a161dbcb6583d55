import { setTimeout as delay } from 'node:timers/promises'
import type { Job, JobOutcome, JobSignals } from '#jobs/job.ts'
import { readClock } from '#src/db/clock.ts'
import { loadInstallation } from '#src/db/installation.ts'
import { reclaimExpired } from '#src/imports/sending/reclaim.ts'
import type { WorkEnd } from '#src/imports/sending/send-batches.ts'
import { listWaitingImports } from '#src/imports/sending/waiting-imports.ts'
import { findImport, workImport } from '#src/imports/sending/work.ts'
import { failLostRuns } from '#src/inventory/runs/lost-runs.ts'
import { allEnded } from '#src/model/within.ts'
import { type ScheduleDefinition, type ScheduleKey, schedulesOf } from '#src/schedules/definition.ts'
import { type Due, DueFinder, type DueNow } from '#src/schedules/find-due.ts'
import { createCapacity } from './capacity.ts'
import { timedSince } from './freshness-targets.ts'
import { processSchedule } from './process-schedule.ts'
import { MAX_PER_ACCOUNT, type WorkerContext } from './worker.ts'

/*
 * What a worker does, once and without a queue: for machines on which nothing stays running. Postgres says what is due, and
 * leases decide who does it, so any number of these may run beside each other and beside workers.
 *
 *     end lost work ──► due schedules ┐
 *           ▲           imports ──────┴──► done, unless it is to go on until idle and something can be done soon
 *           └────────────────────────────────┘
 */

/** Something that was done here. */
export type DueDone =
  | { readonly what: 'schedule'; readonly slot: ScheduleKey & Due; readonly outcome: JobOutcome }
  | { readonly what: 'import'; readonly importId: bigint; readonly end: WorkEnd }

export type RunDueOptions = JobSignals & {
  readonly jobs: readonly Job[]
  readonly schedules: readonly ScheduleDefinition[]
  readonly untilIdle: boolean
  /** Called with each thing done; awaited. */
  readonly tell: (done: DueDone) => Promise<void>
  /** Called after each pass. */
  readonly afterPass: () => Promise<void>
}

/** What could be done, and was not. */
export type DueLeft = Pick<DueNow, 'due' | 'later'> & {
  /** Imports that this process could send. */
  readonly imports: readonly bigint[]
}

/** An import gives way rather than wait for longer: the limit of a minute is used up, that of a second is not worth it. */
const WAIT_AT_MOST_MS = 2_000
/** An import that backs off for longer cannot be sent now. */
const BACKS_OFF_AT_MOST_MS = 60_000
const LOOK_AGAIN_MS = 1_000

/**
 * Does what is due, and sends what may be sent now. Until idle, it goes on as long as imports can go on, and what was due when
 * it began is not done; what becomes due meanwhile is done along with it. Returns what is left.
 *
 * Nothing is lost if the process dies: its leases expire, and the next one goes on. Throws if Postgres cannot be reached.
 */
export async function runDue(context: WorkerContext, options: RunDueOptions): Promise<DueLeft> {
  const { pool, log, catchUpMs } = context
  const { signal, untilIdle, afterPass } = options
  const { createdAt: installedAt } = await loadInstallation(pool)
  const accounts = [...context.accounts.keys()]
  const schedules = schedulesOf(options.schedules, accounts)
  const dueFinder = new DueFinder({ pool, log, catchUpMs, installedAt, timedSince })
  const { now: beganAt } = await readClock(pool)
  const pass = createPass(context, options)

  const look = async (backsOffMs: number): Promise<DueLeft> => {
    const { due, later } = await dueFinder.find(schedules)
    return { due, later, imports: await listWaitingImports(pool, accounts, backsOffMs) }
  }
  for (;;) {
    await endLostWork(context)
    await pass(await look(0), dueFinder)
    await afterPass()
    const found = await look(BACKS_OFF_AT_MOST_MS)
    // A poll may become due again faster than it is done: what became due meanwhile keeps nothing going.
    const due = found.due.filter(({ slot }) => slot.trigger === 'manual' || slot.slot <= beganAt)
    const canGoOn = found.imports.length > 0 || due.length > 0
    if (!untilIdle || signal.aborted || !canGoOn) return { ...found, due }
    await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {})
  }
}

/** What a lost worker left is ended as a reconciler does it. */
async function endLostWork({ pool, log }: WorkerContext): Promise<void> {
  for (const run of await failLostRuns(pool)) {
    log.warn({ run }, 'A run was marked failed: its worker was lost.')
  }
  await reclaimExpired(pool)
}

/** Returns what does all that was found, as a worker would: so much of each account at a time. */
function createPass(context: WorkerContext, { jobs, tell, untilIdle, ...options }: RunDueOptions) {
  const { signal, cutOff } = options
  const capacity = { sync: createCapacity(MAX_PER_ACCOUNT), import: createCapacity(MAX_PER_ACCOUNT) }

  async function send(importId: bigint): Promise<void> {
    const head = await findImport(context.pool, importId)
    const free = head && capacity.import.take(head.account)
    if (!free) return
    try {
      const end = await workImport(context, importId, { signal, cutOff, waitAtMostMs: WAIT_AT_MOST_MS })
      if (end !== 'busy' && end !== 'waiting' && !(untilIdle && end === 'yielded')) {
        await tell({ what: 'import', importId, end })
      }
    } finally {
      free()
    }
  }

  return async ({ due, imports }: DueLeft, dueFinder: DueFinder): Promise<void> => {
    if (signal.aborted) return
    const ended: Promise<void>[] = []
    const processor = {
      context,
      jobs,
      schedules: due.map(({ schedule }) => schedule),
      dueFinder,
      capacity: capacity.sync,
      onEnd(slot: ScheduleKey & Due, outcome: JobOutcome) {
        const told = tell({ what: 'schedule', slot, outcome })
        told.catch(() => {}) // thrown where it is awaited
        ended.push(told)
      },
    }
    const begun = [
      ...due.map(({ schedule: { schedule: job, account } }) => {
        return processSchedule(processor, { job, account }, { signal, cutOff })
      }),
      ...imports.map(send),
    ]
    // Everything ends before a fault is thrown: what is under way must not meet a closed pool.
    await allEnded<unknown>(begun).finally(() => Promise.all(ended))
  }
}
