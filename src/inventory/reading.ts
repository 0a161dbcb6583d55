import type { Integer } from '#src/model/alert-rule.ts'
import { REPEATED } from '#src/platform/read-rows.ts'
import type { GoodRow, ReadRow, RowSink } from '#src/platform/row-sink.ts'
import type { ChangeSink, Compare } from './compare.ts'
import type { ListedRows } from './listed-rows.ts'
import { REPEATED_IN_FOLDER } from './messages.ts'
import { Quarantine } from './quarantine.ts'
import type { InventorySource } from './source.ts'

/** What the parts of a reading amount to. */
export type ReadingEnd = {
  readonly seen: number
  readonly added: number
  readonly changed: number
  readonly fired: number
  readonly recovered: number
  readonly quarantined: Quarantine
  /** The accounts of the platform that its rows name. */
  readonly accountIds: ReadonlySet<Integer>
}

/** Compares the rows of an inventory while they are read, and passes on what changes. */
export type Reading<Row> = {
  /**
   * Returns where the rows of the next listing go. The parts are read one after the other, each once `previous`, the end of
   * the one before, has settled.
   */
  part(previous?: Promise<unknown>): RowSink<Row>
  /** Resolves once all rows were compared and passed on. */
  end(): Promise<ReadingEnd>
  /** Resolves once no row is being compared any more. Nothing is passed on after it. */
  stop(): Promise<void>
}

/**
 * Rows are passed on in blocks: a thousand as soon as nothing else is being passed on, and as many as wait by then if
 * Postgres takes longer, which makes up for it because each block costs round trips. The bounds are those of memory.
 */
const MIN_BLOCK_ROWS = 1_000
const MAX_BLOCK_ROWS = 3_000
const MAX_BLOCK_BYTES = 2 * 1024 * 1024

type Part<Row> = {
  /** Its rows do not count: another attempt took its place. */
  isVoid: boolean
  known: number
  taken: number
  added: number
  changed: number
  fired: number
  recovered: number
  readonly quarantined: Quarantine
  readonly unreadableIds: Set<string>
  readonly accountIds: Set<Integer>
  block: GoodRow<Row>[]
  blockBytes: number
}

export function openReading<Row>(
  source: Pick<InventorySource<Row>, 'accountIdOf'>,
  listed: ListedRows,
  compare: Compare<Row>,
  changes: ChangeSink<Row>,
): Reading<Row> {
  const { accountIdOf } = source
  const parts: (Part<Row> | undefined)[] = []
  let underWay: Promise<void> = Promise.resolve()
  let isUnderWay = false
  let lastCompared: Promise<unknown> = Promise.resolve()
  let isStopped = false
  listed.startReading()

  /** Compares a block while the one before is being passed on, and passes it on while the next one is being read. */
  async function flush(part: Part<Row>): Promise<void> {
    const rows = part.block
    if (rows.length === 0) return
    part.block = []
    part.blockBytes = 0
    const compared = compare(rows)
    lastCompared = compared.catch(() => {}) // thrown where it is passed on
    await underWay
    isUnderWay = true
    underWay = passOn(part, rows, compared).finally(() => {
      isUnderWay = false
    })
    underWay.catch(() => {}) // thrown where it is awaited
  }

  async function passOn(
    part: Part<Row>,
    rows: readonly GoodRow<Row>[],
    compared: ReturnType<Compare<Row>>,
  ): Promise<void> {
    const { changes: found, states } = await compared
    if (part.isVoid || isStopped) return
    for (const [n, { id, digest }] of rows.entries()) {
      const state = states[n]
      if (state) listed.learn(id, digest, state)
    }
    part.added += found.added.length
    part.changed += found.changed.length
    part.fired += found.began.length
    part.recovered += found.ended.length
    await changes.write(found)
  }

  /** Lists a row, or tells why it is not applied. */
  function repetition(part: Part<Row>, id: string): string | null {
    if (!part.unreadableIds.has(id) && listed.list(id)) return null
    return part.unreadableIds.has(id) || listed.isInPart(id) ? REPEATED : REPEATED_IN_FOLDER
  }

  function takeRow(part: Part<Row>, read: ReadRow<Row>, rawOf = (): string | null => null): void {
    part.taken += 1
    if (!('row' in read)) {
      part.quarantined.add(read)
      if (read.id !== null) part.unreadableIds.add(read.id)
      return
    }
    const { id } = read
    const reason = repetition(part, id)
    if (reason !== null) {
      const raw = reason === REPEATED ? rawOf() : null
      part.quarantined.add({ position: read.position, id, reason, raw })
      return
    }
    const accountId = accountIdOf(read.row)
    if (accountId !== null) part.accountIds.add(accountId)
    part.block.push(read)
    part.blockBytes += read.bytes
  }

  return {
    part(previous = Promise.resolve()) {
      const n = parts.push(undefined) - 1
      let part: Part<Row> = newPart()
      return {
        async ready() {
          await previous.catch(() => {})
          const before = parts[n - 1]
          if (before) await flush(before)
          await underWay
        },
        begin() {
          if (parts[n] === undefined) changes.mark()
          else {
            part.isVoid = true
            listed.discardPart()
            changes.rewind()
          }
          listed.startPart()
          part = newPart()
          parts[n] = part
        },
        knows(digest) {
          const isKnown = listed.listKnown(digest, part.unreadableIds)
          if (isKnown) part.known += 1
          return isKnown
        },
        take: (row, raw) => takeRow(part, row, raw),
        async settle() {
          const isFull = part.block.length >= MAX_BLOCK_ROWS || part.blockBytes >= MAX_BLOCK_BYTES
          if (isFull || (!isUnderWay && part.block.length >= MIN_BLOCK_ROWS)) await flush(part)
        },
      }
    },
    async end() {
      const read = parts.filter(part => part !== undefined)
      for (const part of read) await flush(part)
      await underWay
      for (const { unreadableIds } of read) for (const id of unreadableIds) listed.list(id)
      return summaryOf(read)
    },
    async stop() {
      isStopped = true
      await lastCompared
      await underWay.catch(() => {})
    },
  }
}

function newPart<Row>(): Part<Row> {
  return {
    isVoid: false,
    known: 0,
    taken: 0,
    added: 0,
    changed: 0,
    fired: 0,
    recovered: 0,
    quarantined: new Quarantine(),
    unreadableIds: new Set(),
    accountIds: new Set(),
    block: [],
    blockBytes: 0,
  }
}

function summaryOf(parts: readonly Part<unknown>[]): ReadingEnd {
  const sum = (count: (part: Part<unknown>) => number) =>
    parts.reduce((total, part) => total + count(part), 0)
  const quarantined = new Quarantine()
  let rowsBefore = 0
  for (const part of parts) {
    quarantined.append(part.quarantined, rowsBefore)
    rowsBefore += part.known + part.taken
  }
  return {
    seen: rowsBefore,
    added: sum(part => part.added),
    changed: sum(part => part.changed),
    fired: sum(part => part.fired),
    recovered: sum(part => part.recovered),
    quarantined,
    accountIds: new Set(parts.flatMap(part => [...part.accountIds])),
  }
}
