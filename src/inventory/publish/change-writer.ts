import type { PoolClient } from 'pg'
import { endLease } from '#src/db/lease-rows.ts'
import { fenceWithLease, LeaseLost } from '#src/db/leases.ts'
import { beginTransaction, type LongTransaction } from '#src/db/long-transaction.ts'
import { inTransaction } from '#src/db/pool.ts'
import type { InventoryContext } from '#src/inventory/context.ts'
import { chooseInstant, InstantPassed, isStillFree } from '#src/inventory/history/choose-instant.ts'
import type { OpenRun } from '#src/inventory/runs/ledger.ts'
import { finishRun, type RunEnd, type RunStep } from '#src/inventory/runs/ledger.ts'
import type { InventorySource } from '#src/inventory/source.ts'
import { appearanceOf, type ListedBefore, loadListedBefore } from './appearance.ts'
import type { ChangeSink, Changes } from './compare.ts'
import { applyFirings } from './firings.ts'
import { closeVersions, openVersions } from './versions.ts'

/** What a run writes beside its changes, and how it ends. */
type Finish = (client: PoolClient, step: RunStep) => Promise<Omit<RunEnd, 'appliedAt' | 'requests' | 'pages'>>

/** How a run ended that was applied. */
export type AppliedEnd = RunEnd & { readonly appliedAt: string }

/** Writes the changes of a run. Nobody sees any of it before `publish`. */
export type ChangeWriter<Row> = ChangeSink<Row> & {
  /** Publishes the run: commits its changes, with what `finish` writes, ends it in the ledger, and gives its lease up. */
  publish(finish: Finish): Promise<AppliedEnd>
  /** Forgets all changes, if they were not published. */
  discard(): Promise<void>
}

/**
 * Changes are kept in memory up to this number, so that the transaction of most runs is short. If there are more, they are
 * written while the listing is being read.
 */
const MAX_HELD_ROWS = 4_000
const MAX_HELD_BYTES = 8 * 1024 * 1024

/*
 *     held ── too much ──► written ──► published
 *      └───────────────────────────────►
 */
type State<Row> =
  | {
      readonly kind: 'held'
      readonly changes: Changes<Row>[]
      /** How many of them are from before the last mark. */
      marked: number
    }
  /** In a transaction, which has a savepoint where the last mark was. */
  | { readonly kind: 'written'; readonly transaction: LongTransaction; readonly step: RunStep }

/**
 * Opens the writer of one run. Its transaction is protected by the lease: `publish` throws `LeaseLost` if another worker
 * may have it by now, and `InstantPassed` if a snapshot was taken since the changes began to be written. Then nothing is
 * written.
 */
export function openChangeWriter<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  run: OpenRun,
): ChangeWriter<Row> {
  const { pool, limitWork, limitLongWork } = context
  const inventory = { account: run.account, resource: source.resource }
  let state: State<Row> = { kind: 'held', changes: [], marked: 0 }
  let listedBefore: ListedBefore | null = null

  async function firstStep(client: PoolClient): Promise<RunStep> {
    return { ...inventory, runId: run.id, at: await chooseInstant(client, inventory, run.id) }
  }

  async function put(client: PoolClient, step: RunStep, changes: Changes<Row>): Promise<void> {
    const { table, isFiring } = source
    const changedIds = changes.changed.map(({ id }) => id)
    await closeVersions(client, table, step, changedIds)
    if (changes.added.length > 0) listedBefore ??= await loadListedBefore(client, step, source.scope)
    const before = listedBefore
    await openVersions(client, table, step, changes.added, row => before && appearanceOf(table, row, before))
    await openVersions(client, table, step, changes.changed)
    if (isFiring) await applyFirings(client, step, changes.began, changes.ended)
  }

  /** Writes what is held into a transaction that stays open. */
  async function spill(held: readonly Changes<Row>[], marked: number): Promise<void> {
    const transaction = await beginTransaction(pool, limitLongWork)
    const writing = transaction.run(async client => {
      const step = await firstStep(client)
      for (const changes of held.slice(0, marked)) await put(client, step, changes)
      await client.query('savepoint mark')
      for (const changes of held.slice(marked)) await put(client, step, changes)
      return step
    })
    state = { kind: 'written', transaction, step: await writing }
  }

  async function end(client: PoolClient, step: RunStep, finish: Finish): Promise<AppliedEnd> {
    const finished = await finish(client, step)
    const whole = { ...finished, appliedAt: step.at, requests: run.requests, pages: run.pages }
    if (!(await finishRun(client, run.id, whole))) {
      throw new LeaseLost(`run ${run.id} was taken for lost`)
    }
    await endLease(client, run.lease)
    return whole
  }

  async function publishHeld(held: readonly Changes<Row>[], finish: Finish): Promise<AppliedEnd> {
    return inTransaction(pool, async client => {
      await fenceWithLease(client, run.lease)
      const step = await firstStep(client)
      for (const changes of held) await put(client, step, changes)
      return end(client, step, finish)
    })
  }

  async function publishWritten(client: PoolClient, step: RunStep, finish: Finish): Promise<AppliedEnd> {
    await fenceWithLease(client, run.lease)
    if (!(await isStillFree(client, inventory, step.at))) throw new InstantPassed()
    return end(client, step, finish)
  }

  return {
    async mark() {
      if (state.kind === 'held') state.marked = state.changes.length
      else await state.transaction.run(client => client.query('release savepoint mark; savepoint mark'))
    },
    async rewind() {
      if (state.kind === 'held') state.changes.length = state.marked
      else await state.transaction.run(client => client.query('rollback to savepoint mark'))
    },
    async write(changes) {
      if (rowsOf(changes) === 0) return
      if (state.kind === 'written') {
        const { transaction, step } = state
        return transaction.run(client => put(client, step, changes))
      }
      state.changes.push(changes)
      if (isTooMuch(state.changes)) await spill(state.changes, state.marked)
    },
    async publish(finish) {
      const last = state
      state = { kind: 'held', changes: [], marked: 0 }
      const published =
        last.kind === 'written'
          ? await last.transaction.end(client => publishWritten(client, last.step, finish))
          : await limitWork(() => publishHeld(last.changes, finish))
      run.lease.wasEnded()
      return published
    },
    async discard() {
      const last = state
      state = { kind: 'held', changes: [], marked: 0 }
      if (last.kind === 'written') await last.transaction.rollBack()
    },
  }
}

function isTooMuch(held: readonly Changes<unknown>[]): boolean {
  let rows = 0
  let bytes = 0
  for (const changes of held) {
    rows += rowsOf(changes)
    bytes += changes.bytes
  }
  return rows > MAX_HELD_ROWS || bytes > MAX_HELD_BYTES
}

function rowsOf({ added, changed, began, ended }: Changes<unknown>): number {
  return added.length + changed.length + began.length + ended.length
}
