import type { PoolClient } from 'pg'
import { endLease } from '#src/db/lease-rows.ts'
import { fenceWithLease, LeaseLost } from '#src/db/leases.ts'
import { beginTransaction, type LongTransaction } from '#src/db/long-transaction.ts'
import { inTransaction } from '#src/db/pool.ts'
import { appearanceOf, type ListedBefore, loadListedBefore } from './appearance.ts'
import { chooseInstant, InstantPassed, isStillFree } from './choose-instant.ts'
import type { ChangeSink, Changes } from './compare.ts'
import type { InventoryContext } from './context.ts'
import { applyFirings } from './firings.ts'
import { finishRun, type RunEnd, type RunStep } from './ledger.ts'
import type { OpenRun } from './open-run.ts'
import type { InventorySource } from './source.ts'
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
  let held: Changes<Row>[] = []
  /** How many of `held` are from before the last mark. */
  let marked = 0
  let transaction: LongTransaction | null = null
  /** The instant of the transaction. */
  let at = ''
  let savepoint: 'none' | 'wanted' | 'set' | 'to be rolled back' = 'none'
  let listedBefore: ListedBefore | null = null
  /** How often it was rewound. What was to be written before is not written after it. */
  let rewinds = 0
  const stepAt = (instant: string): RunStep => ({ ...inventory, runId: run.id, at: instant })

  async function put(client: PoolClient, step: RunStep, changes: Changes<Row>): Promise<void> {
    const { table, isFiring } = source
    await closeVersions(
      client,
      table,
      step,
      changes.changed.map(({ id }) => id),
    )
    if (changes.added.length > 0) listedBefore ??= await loadListedBefore(client, step, source.scope)
    const before = listedBefore
    await openVersions(client, table, step, changes.added, row => before && appearanceOf(table, row, before))
    await openVersions(client, table, step, changes.changed)
    if (isFiring) await applyFirings(client, step, changes.began, changes.ended)
  }

  async function putHeld(client: PoolClient, step: RunStep, from: number, to: number): Promise<void> {
    for (const changes of held.slice(from, to)) await put(client, step, changes)
  }

  /** Brings the savepoint of the transaction to where the reading is. It may be rewound meanwhile. */
  async function settleSavepoint(client: PoolClient): Promise<void> {
    const before = savepoint
    savepoint = 'set'
    if (before === 'to be rolled back') await client.query('rollback to savepoint part')
    if (before === 'wanted') await client.query('savepoint part')
  }

  /** Writes what is held into a transaction that stays open. */
  async function spill(): Promise<void> {
    transaction = await beginTransaction(pool, limitLongWork)
    await transaction.run(async client => {
      at = await chooseInstant(client, inventory, run.id)
      await putHeld(client, stepAt(at), 0, marked)
      savepoint = 'wanted'
      await settleSavepoint(client)
      await putHeld(client, stepAt(at), marked, held.length)
    })
    held = []
    marked = 0
  }

  return {
    mark() {
      marked = held.length
      // After a rollback, its savepoint is where this part begins too.
      if (savepoint !== 'to be rolled back') savepoint = 'wanted'
    },
    rewind() {
      rewinds += 1
      held.length = marked
      if (savepoint === 'set') savepoint = 'to be rolled back'
    },
    async write(changes) {
      if (rowsOf(changes) === 0) return
      if (transaction) {
        const before = rewinds
        return transaction.run(async client => {
          if (rewinds !== before) return
          await settleSavepoint(client)
          await put(client, stepAt(at), changes)
        })
      }
      held.push(changes)
      if (isTooMuch(held)) await spill()
    },
    async publish(finish) {
      const end = async (client: PoolClient, step: RunStep): Promise<AppliedEnd> => {
        const finished = await finish(client, step)
        const whole = { ...finished, appliedAt: step.at, requests: run.requests, pages: run.pages }
        if (!(await finishRun(client, run.id, whole))) {
          throw new LeaseLost(`run ${run.id} was taken for lost`)
        }
        await endLease(client, run.lease)
        return whole
      }
      const open = transaction
      transaction = null
      const published = open
        ? await open.end(async client => {
            await settleSavepoint(client)
            await fenceWithLease(client, run.lease)
            if (!(await isStillFree(client, inventory, at))) throw new InstantPassed()
            return end(client, stepAt(at))
          })
        : await limitWork(() =>
            inTransaction(pool, async client => {
              await fenceWithLease(client, run.lease)
              const step = stepAt(await chooseInstant(client, inventory, run.id))
              await putHeld(client, step, 0, held.length)
              return end(client, step)
            }),
          )
      run.lease.wasEnded()
      return published
    },
    async discard() {
      held = []
      await transaction?.rollBack()
      transaction = null
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
