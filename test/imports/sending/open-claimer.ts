import { claimBatch, newClaim } from '#src/imports/sending/claims.ts'
import { openScriptedWorker, type ScriptedAnswer } from '#test/support/scripted-worker.ts'
import { type StagedImport, stageRows } from '#test/support/staged.ts'
import type { TestStore } from '#test/support/store.ts'

/** Claims batches of an import, with a worker of its own. */
export async function openClaimer(store: TestStore, staged: StagedImport = {}, limitKey = 'account:default') {
  const id = await stageRows(store.pool, staged)
  const worker = await openScriptedWorker(store.pool, id, { limitKey })
  const { context } = worker
  /** Claims the next batch, or says what to do instead. */
  const claim = (windows = context.limit.windows) =>
    claimBatch({ ...context, limit: { limitKey, windows } }, newClaim())
  return {
    id,
    worker,
    context,
    claim,
    /** Claims the next batch, and has the call answered like this. Returns its lines. */
    async send(answer: ScriptedAnswer): Promise<string> {
      const next = await worker.claim()
      await worker.send(next, answer)
      return linesOfBatch(store, next.batchId)
    },
    /** The lines of the batch that is claimed next, or what is answered instead. It stays in flight. */
    async claimLines(): Promise<string> {
      const claimed = await claim()
      return claimed.what === 'claimed' ? linesOfBatch(store, claimed.claim.batchId) : claimed.what
    },
  }
}

async function linesOfBatch(store: TestStore, id: bigint): Promise<string> {
  const { rows } = await store.pool.query<{ lines: string }>(
    `select from_line || '-' || to_line as lines from ferry.import_batches where id = $1`,
    [id],
  )
  return rows[0]!.lines
}
