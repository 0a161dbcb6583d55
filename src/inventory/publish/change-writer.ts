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
import { DECLARATIONS } from '#src/model/declarations.ts'
import type { ChangeSink, Changes } from './compare.ts'
import type { Removals } from './decide.ts'
import { Opened } from './opened.ts'
import { StepWriter } from './step-writer.ts'

/** What a run writes beside its changes, and how it ends. */
type Finish = (
  client: PoolClient,
  step: RunStep,
  opened: Opened,
) => Promise<{
  readonly end: Omit<RunEnd, 'appliedAt' | 'requests' | 'pages'>
  readonly removals: Removals
}>

/** How a run ended that was applied, and what became of the rows that were not listed. */
export type Applied = {
  readonly end: RunEnd & { readonly appliedAt: string }
  readonly removals: Removals
}

/**
 * Changes are kept in memory up to this number, so that the transaction of most runs is short. If there are more, they are
 * written while the listing is being read.
 */
const MAX_HELD_ROWS = 4_000
const MAX_HELD_BYTES = 8 * 1024 * 1024
/**
 * A listing that brings more changes than this so soon will end soon: to write them meanwhile takes less time, and no long
 * transaction.
 */
const MAX_QUICK_ROWS = 100
const QUICK_MS = 1_000

/*
 *     held ── many ──► written ──► published
 *      │ ◄── rewind ──────┘             ▲
 *      │    (nothing is marked)         │
 *      └────────────────────────────────┘
 */
type State<Row> = Held<Row> | Written<Row>
type Held<Row> = {
  readonly kind: 'held'
  readonly changes: Changes<Row>[]
  /** How many of them are from before the last mark. */
  marked: number
}
/** In a transaction, which has a savepoint where the last mark was. */
type Written<Row> = {
  readonly kind: 'written'
  readonly transaction: LongTransaction
  readonly writer: StepWriter<Row>
  /** Whether nothing of it is from before the last mark. */
  isNothingMarked: boolean
}

/**
 * Writes the changes of one run. Nobody sees any of it before `publish`. Its transaction is protected by the lease: `publish`
 * throws `LeaseLost` if another worker may have it by now, and `InstantPassed` if a snapshot was taken since the changes began
 * to be written. Then nothing is written. `signal` ends a wait for other runs.
 */
export class ChangeWriter<Row> implements ChangeSink<Row> {
  readonly #context: InventoryContext
  readonly #source: InventorySource<Row>
  readonly #run: OpenRun
  readonly #signal: AbortSignal
  #state: State<Row> = { kind: 'held', changes: [], marked: 0 }
  /** When the first part of the reading began. */
  #begunAtMs: number | null = null
  /** What was opened, and what before the last mark. */
  readonly #opened: Opened
  readonly #openedBefore: Opened

  constructor(context: InventoryContext, source: InventorySource<Row>, run: OpenRun, signal: AbortSignal) {
    this.#context = context
    this.#source = source
    this.#run = run
    this.#signal = signal
    const { fields } = DECLARATIONS[source.resource]
    this.#opened = new Opened(fields)
    this.#openedBefore = new Opened(fields)
  }

  async mark(): Promise<void> {
    this.#begunAtMs ??= performance.now()
    const state = this.#state
    if (state.kind === 'held') state.marked = state.changes.length
    else {
      await onceSettled(state, client => client.query('release savepoint mark; savepoint mark'))
      this.#openedBefore.assign(this.#opened)
      state.isNothingMarked = false
    }
  }

  /**
   * What the next attempt finds takes effect at an instant of its own, unless parts before are written: theirs is that of the
   * whole run then.
   */
  async rewind(): Promise<void> {
    const state = this.#state
    if (state.kind === 'held') state.changes.length = state.marked
    else {
      if (state.isNothingMarked) await this.discard()
      else await onceSettled(state, client => client.query('rollback to savepoint mark'))
      this.#opened.assign(this.#openedBefore)
    }
  }

  async write(changes: Changes<Row>): Promise<void> {
    if (rowsOf(changes) === 0) return
    const state = this.#state
    if (state.kind === 'written') return state.transaction.run(() => state.writer.put(changes))
    state.changes.push(changes)
    const maxRows = this.#isQuick() ? MAX_QUICK_ROWS : MAX_HELD_ROWS
    if (isTooMuch(state.changes, maxRows)) this.#state = await this.#spill(state)
  }

  /** Publishes the run: commits its changes, with what `finish` writes, ends it in the ledger, and gives its lease up. */
  async publish(finish: Finish): Promise<Applied> {
    const state = this.#take()
    const published =
      state.kind === 'written'
        ? await state.transaction.end(client => this.#publishWritten(client, state, finish))
        : await this.#context.limitWork(() => this.#publishHeld(state, finish))
    this.#run.lease.wasEnded()
    return published
  }

  /** Forgets all changes, if they were not published. */
  async discard(): Promise<void> {
    const state = this.#take()
    if (state.kind === 'held') return
    await state.transaction.run(() => state.writer.abort()).catch(() => {})
    await state.transaction.rollBack()
  }

  #isQuick(): boolean {
    const begunAtMs = this.#begunAtMs ?? Number.NEGATIVE_INFINITY
    return performance.now() - begunAtMs < QUICK_MS && this.#context.limitLongWork.hasRoom()
  }

  #take(): State<Row> {
    const state = this.#state
    this.#state = { kind: 'held', changes: [], marked: 0 }
    return state
  }

  /** Writes what is held into a transaction that stays open. */
  async #spill({ changes: held, marked }: Held<Row>): Promise<State<Row>> {
    let writer: StepWriter<Row> | null = null
    const { pool, limitLongWork } = this.#context
    const settle = async () => writer?.settle()
    const transaction = await beginTransaction(pool, limitLongWork, { settle, signal: this.#signal })
    return transaction.run(async client => {
      const step = await this.#firstStep(client)
      writer = new StepWriter(client, this.#source, step, this.#opened)
      for (const changes of held.slice(0, marked)) await writer.put(changes)
      await writer.settle()
      await client.query('savepoint mark')
      this.#openedBefore.assign(this.#opened)
      for (const changes of held.slice(marked)) await writer.put(changes)
      return { kind: 'written', transaction, writer, isNothingMarked: marked === 0 }
    })
  }

  #publishHeld({ changes: held }: Held<Row>, finish: Finish): Promise<Applied> {
    return inTransaction(this.#context.pool, async client => {
      await fenceWithLease(client, this.#run.lease)
      const step = await this.#firstStep(client)
      const writer = new StepWriter(client, this.#source, step, this.#opened)
      for (const changes of held) await writer.put(changes)
      await writer.settle()
      return this.#end(client, step, finish)
    })
  }

  async #publishWritten(client: PoolClient, { writer }: Written<Row>, finish: Finish): Promise<Applied> {
    const { step } = writer
    await writer.settle()
    await fenceWithLease(client, this.#run.lease)
    if (!(await isStillFree(client, step, step.at))) throw new InstantPassed()
    return this.#end(client, step, finish)
  }

  async #firstStep(client: PoolClient): Promise<RunStep> {
    const inventory = { account: this.#run.account, resource: this.#source.resource }
    return { ...inventory, runId: this.#run.id, at: await chooseInstant(client, inventory, this.#run.id) }
  }

  async #end(client: PoolClient, step: RunStep, finish: Finish): Promise<Applied> {
    const run = this.#run
    const { end, removals } = await finish(client, step, this.#opened)
    const whole = { ...end, appliedAt: step.at, requests: run.requests, pages: run.pages }
    if (!(await finishRun(client, run.id, whole))) throw new LeaseLost(`run ${run.id} was taken for lost`)
    await endLease(client, run.lease)
    return { end: whole, removals }
  }
}

/** Asks something of the connection after all that was put. */
function onceSettled<Row, T>(
  { transaction, writer }: Written<Row>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return transaction.run(async client => {
    await writer.settle()
    return work(client)
  })
}

function isTooMuch(held: readonly Changes<unknown>[], maxRows: number): boolean {
  let rows = 0
  let bytes = 0
  for (const changes of held) {
    rows += rowsOf(changes)
    bytes += changes.bytes
  }
  return rows > maxRows || bytes > MAX_HELD_BYTES
}

function rowsOf({ added, changed, began, ended }: Changes<unknown>): number {
  return added.length + changed.length + began.length + ended.length
}
