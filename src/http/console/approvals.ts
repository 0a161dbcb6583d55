import type { Logger } from 'pino'
import type { InventoryContext } from '#src/inventory/context.ts'
import { approveRun, NothingToApprove } from '#src/inventory/holds/approve.ts'
import { HoldChanged } from '#src/inventory/holds/holds.ts'
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
   * Approves what run `runId` held, unless an approval of hold `holdId` is under way here: then it is that one. Waits for its
   * end, whatever it is, but only for some seconds. Throws `NothingToApprove`, and `HoldChanged` if `seen` names other rows.
   */
  approve(holdId: bigint, runId: bigint, by: ActedBy, seen: string): Promise<void>
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
  const underWay = new Map<bigint, { ended: Promise<void>; since: Date; actor: string }>()
  const failures = new Map<bigint, Extract<ApprovalState, { state: 'failed' }>>()

  async function begin(holdId: bigint, runId: bigint, by: ActedBy, seen: string): Promise<void> {
    failures.delete(holdId)
    try {
      await approveRun(context, runId, by, signal, { waitsForOther: true, seen })
    } catch (error) {
      if (error instanceof NothingToApprove || error instanceof HoldChanged) throw error
      const message = reasonOf(error)
      failures.set(holdId, { state: 'failed', at: new Date(), actor: by.actor, message })
      for (const oldest of [...failures.keys()].slice(0, -MAX_FAILURES)) failures.delete(oldest)
      log.warn({ run: runId, error: message }, 'The removals of a held run could not be approved.')
    } finally {
      underWay.delete(holdId)
    }
  }

  return {
    async approve(holdId, runId, by, seen) {
      let ended = underWay.get(holdId)?.ended
      if (!ended) {
        ended = begin(holdId, runId, by, seen)
        // The browser may be gone by the time this fails.
        ended.catch(() => {})
        underWay.set(holdId, { ended, since: new Date(), actor: by.actor })
      }
      await unlessLate(ANSWER_WITHIN_MS, ended)
    },
    stateOf(holdId) {
      const now = underWay.get(holdId)
      if (now) return { state: 'under way', since: now.since, actor: now.actor }
      return failures.get(holdId) ?? null
    },
    async settled() {
      while (underWay.size > 0) await Promise.allSettled([...underWay.values()].map(({ ended }) => ended))
    },
  }
}
