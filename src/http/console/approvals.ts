import type { Logger } from 'pino'
import type { InventoryContext } from '#src/inventory/context.ts'
import { approveRun, NothingToApprove } from '#src/inventory/holds/approve.ts'
import type { ActedBy } from '#src/model/act.ts'
import { reasonOf } from '#src/model/reason.ts'
import { unlessLate } from '#src/model/within.ts'

/*
 * An approval reads the inventory again, which may take minutes: longer than a browser waits. It continues here after its
 * form was answered. Its result is in Postgres, as that of any run: all of it is applied or nothing, so a worker that stops
 * half-way leaves the hold open.
 */

/** What this worker knows about the approval of a hold, besides what Postgres has. */
export type ApprovalState =
  | { readonly state: 'under way'; readonly since: Date; readonly actor: string }
  /** It failed, and no run says so. */
  | { readonly state: 'failed'; readonly at: Date; readonly actor: string; readonly message: string }

export type Approvals = {
  /**
   * Approves what run `runId` of hold `holdId` held, unless the same is under way here: then it is that one. Waits for its
   * end, whatever it is, but only for some seconds. Throws `NothingToApprove`.
   */
  approve(holdId: bigint, runId: bigint, by: ActedBy): Promise<void>
  /** Null if this worker knows of no approval. */
  stateOf(holdId: bigint): ApprovalState | null
  /** Resolves once no approval is under way. */
  settled(): Promise<void>
}

/** Long enough for a small inventory, short enough for a person. */
const ANSWER_WITHIN_MS = 4_000
/** The most failed approvals that are remembered. */
const MAX_FAILURES = 100

/** Approvals end once `signal` aborts; then nothing of them is applied. */
export function createApprovals(context: InventoryContext, log: Logger, signal: AbortSignal): Approvals {
  /** By the run whose rows are approved. */
  const underWay = new Map<bigint, { holdId: bigint; ended: Promise<void>; since: Date; actor: string }>()
  const failures = new Map<bigint, Extract<ApprovalState, { state: 'failed' }>>()

  async function begin(holdId: bigint, runId: bigint, by: ActedBy): Promise<void> {
    failures.delete(holdId)
    try {
      await approveRun(context, runId, by, signal, { waitsForOther: true })
    } catch (error) {
      if (error instanceof NothingToApprove) throw error
      const message = reasonOf(error)
      failures.set(holdId, { state: 'failed', at: new Date(), actor: by.actor, message })
      for (const oldest of [...failures.keys()].slice(0, -MAX_FAILURES)) failures.delete(oldest)
      log.warn({ run: runId, error: message }, 'The removals of a held run could not be approved.')
    } finally {
      underWay.delete(runId)
    }
  }

  return {
    async approve(holdId, runId, by) {
      let ended = underWay.get(runId)?.ended
      if (!ended) {
        ended = begin(holdId, runId, by)
        // The browser may be gone by the time this fails.
        ended.catch(() => {})
        underWay.set(runId, { holdId, ended, since: new Date(), actor: by.actor })
      }
      await unlessLate(ANSWER_WITHIN_MS, ended)
    },
    stateOf(holdId) {
      const now = underWay.values().find(one => one.holdId === holdId)
      if (now) return { state: 'under way', since: now.since, actor: now.actor }
      return failures.get(holdId) ?? null
    },
    async settled() {
      while (underWay.size > 0) await Promise.allSettled([...underWay.values()].map(({ ended }) => ended))
    },
  }
}
