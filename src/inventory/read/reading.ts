import type { Pool } from 'pg'
import { REPEATED, REPEATED_IN_FOLDER, UNREADABLE_ID } from '#src/inventory/messages.ts'
import { knownSetCheck } from '#src/inventory/publish/absence.ts'
import { type ChangeSink, type Compare, type ComparedRow, comparer } from '#src/inventory/publish/compare.ts'
import type { InventorySource, ListRequest } from '#src/inventory/source.ts'
import type { Integer } from '#src/model/fields.ts'
import type { Drift } from '#src/model/listing.ts'
import { joinDrift } from '#src/platform/declared.ts'
import type { GoodRow, ListedRow, ListingStep, ReadRow } from '#src/platform/listing.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import type { ListedRows } from './listed-rows.ts'
import { Quarantine } from './quarantine.ts'

/** What the listings of an inventory came to, beside the changes that were passed on. */
export type Reading = { readonly requests: number; readonly pages: number } & (
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | ({ readonly kind: 'read' } & Found)
)

export type Found = Readonly<Omit<Tally, 'append'>> & {
  readonly drift: readonly Drift[]
  /** Why nothing follows from absent rows; null for a complete listing. */
  readonly incomplete: string | null
  /** Absence is certain without another reading. */
  readonly confirmed: boolean
  /** One for each listing, in their order. Equal hashes mean equal data. Null if there are none. */
  readonly dataHashes: readonly string[] | null
}

/** Counts the rows of a listing, or of several. */
class Tally {
  seen = 0
  added = 0
  changed = 0
  fired = 0
  recovered = 0
  readonly quarantined = new Quarantine()
  readonly unreadableIds = new Set<string>()
  /** The accounts of the platform that the rows name. */
  readonly accountIds = new Set<Integer>()

  append(later: Tally): void {
    this.quarantined.append(later.quarantined, this.seen)
    for (const count of ['seen', 'added', 'changed', 'fired', 'recovered'] as const)
      this[count] += later[count]
    for (const id of later.unreadableIds) this.unreadableIds.add(id)
    for (const id of later.accountIds) this.accountIds.add(id)
  }
}

/**
 * Reads what the platform lists, and notes in `listed` which rows are there. Compares them with what is stored, and passes to
 * `changes` what differs; if it is null, what is in the rows does not count. Once this has settled, nothing is passed on.
 */
export async function readSource<Row>(
  pool: Pool,
  source: InventorySource<Row>,
  account: string,
  listed: ListedRows,
  {
    changes,
    ...request
  }: Pick<ListRequest, 'runId' | 'signal'> & { readonly changes: ChangeSink<Row> | null },
): Promise<Reading> {
  const isKnownSet = knownSetCheck(pool, source, account)
  const find = listed.size === 0 ? null : (digest: string) => listed.find(digest)
  const reader = new Reader(source, listed, changes, comparer(pool, source, account, listed))
  try {
    for await (const step of source.list({ ...request, isKnownSet, find })) await reader.take(step)
    return reader.end()
  } finally {
    await reader.stop()
  }
}

/**
 * Rows are passed on in blocks: these many as soon as nothing else is being passed on, and as many as wait by then if
 * Postgres takes longer, which makes up for it because each block costs round trips. The bounds are those of memory.
 */
const MIN_BLOCK_ROWS = 100
const MAX_BLOCK_ROWS = 3_000
const MAX_BLOCK_BYTES = 2 * 1024 * 1024

/** One listing of the reading, until it has ended. */
class Part<Row> extends Tally {
  hasBegun = false
  /** Its rows do not count: it began again. */
  isVoid = false
  block: Block<Row> = []
  blockBytes = 0
}

/** A row by its number among the listed rows. */
type Block<Row> = (ComparedRow<Row> & Pick<GoodRow<Row>, 'digest'> & { readonly listed: number })[]

/** What a reader needs to know of its source. */
type ReadSource<Row> = Pick<InventorySource<Row>, 'accountIdOf' | 'isFiring'>

/** Takes the steps of listings, one listing after the other, lists their rows, and passes on what changes. */
export class Reader<Row> {
  readonly #source: ReadSource<Row>
  readonly #listed: ListedRows
  readonly #changes: ChangeSink<Row> | null
  readonly #compare: Compare<Row>

  #part = new Part<Row>()
  readonly #total = new Tally()
  #requests = 0
  #pages = 0
  #refusal: Refusal | null = null
  #drift: Drift[] = []
  #dataHashes: string[] | null = []
  #incomplete: string | null = null
  #confirmed = false

  #comparing: Promise<unknown> = Promise.resolve()
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false

  constructor(
    source: ReadSource<Row>,
    listed: ListedRows,
    changes: ChangeSink<Row> | null,
    compare: Compare<Row>,
  ) {
    this.#source = source
    this.#listed = listed
    this.#compare = compare
    this.#changes = changes
    listed.startReading()
  }

  async take(step: ListingStep<Row>): Promise<void> {
    if (step.kind === 'begins') return this.#begin()
    if (step.kind === 'ended') return this.#endPart(step)
    for (const row of step.rows) this.#takeRow(row)
    const { block, blockBytes } = this.#part
    const isFull = block.length >= MAX_BLOCK_ROWS || blockBytes >= MAX_BLOCK_BYTES
    if (isFull || (!this.#isWriting && block.length >= MIN_BLOCK_ROWS)) await this.#flush()
  }

  end(): Reading {
    const calls = { requests: this.#requests, pages: this.#pages }
    if (this.#refusal) return { kind: 'refused', refusal: this.#refusal, ...calls }
    const total = this.#total
    for (const id of total.unreadableIds) this.#listed.list(id)
    // A row whose id cannot be read may be any of those that seem absent.
    const incomplete = this.#incomplete ?? (total.quarantined.hasUnreadableId ? UNREADABLE_ID : null)
    const [drift, confirmed, dataHashes] = [joinDrift(this.#drift), this.#confirmed, this.#dataHashes]
    return { kind: 'read', ...calls, ...total, drift, incomplete, confirmed, dataHashes }
  }

  /** Resolves once no row is being compared any more. Nothing is passed on after it. */
  async stop(): Promise<void> {
    this.#part.isVoid = true
    await this.#comparing
    await this.#writing.catch(() => {})
  }

  async #begin(): Promise<void> {
    const before = this.#part
    if (!before.hasBegun) await this.#changes?.mark()
    else {
      before.isVoid = true
      this.#listed.discardPart()
      await this.#writing
      await this.#changes?.rewind()
      this.#part = new Part()
    }
    this.#listed.startPart()
    this.#part.hasBegun = true
  }

  async #endPart({ pages, answer }: Extract<ListingStep<Row>, { kind: 'ended' }>): Promise<void> {
    await this.#flush()
    await this.#writing
    this.#total.append(this.#part)
    this.#part = new Part()
    this.#requests += answer.requests
    this.#pages += pages
    if (!answer.ok) {
      this.#refusal ??= answer.refusal
      return
    }
    const { drift, dataHash, incomplete, confirmed } = answer.data
    this.#drift.push(...drift)
    this.#dataHashes = dataHash === null ? null : (this.#dataHashes?.concat(dataHash) ?? null)
    this.#incomplete ??= incomplete
    this.#confirmed = confirmed
  }

  #takeRow(row: ListedRow<Row>): void {
    const part = this.#part
    if (row.kind !== 'known') this.#takeRead(row)
    else if (this.#listed.listKnown(row.known, part.unreadableIds)) part.seen += 1
    else this.#takeRead(row.read())
  }

  #takeRead(read: ReadRow<Row>): void {
    const part = this.#part
    part.seen += 1
    if (read.kind === 'quarantined') {
      part.quarantined.add(read)
      if (read.id !== null) part.unreadableIds.add(read.id)
      return
    }
    const { id, row, altered, digest, bytes, written, position } = read
    const listed = part.unreadableIds.has(id) ? -1 : this.#listed.list(id)
    if (listed === -1) {
      const reason = this.#repetition(id)
      const raw = reason === REPEATED ? read.declared() : null
      part.quarantined.add({ position, id, reason, raw })
      return
    }
    const accountId = this.#source.accountIdOf(row)
    if (accountId !== null) part.accountIds.add(accountId)
    if (this.#changes === null) return
    const state = { fingerprint: written.fingerprint, isFiring: this.#source.isFiring?.(row) ?? false }
    const before = this.#listed.recall(listed, state.fingerprint)
    if (before && !before.isChanged && before.wasFiring === state.isFiring) {
      this.#listed.learn(listed, digest, state)
      return
    }
    // Without what was parsed beside the row: it would be kept until the block is written.
    part.block.push({ listed, id, row, altered, digest, bytes, written, state, before })
    part.blockBytes += bytes
  }

  /** Says why a row whose id was there before is not applied. */
  #repetition(id: string): string {
    return this.#part.unreadableIds.has(id) || this.#listed.isInPart(id) ? REPEATED : REPEATED_IN_FOLDER
  }

  /** Compares a block while the one before is being written, and writes it while the next one is being read. */
  async #flush(): Promise<void> {
    const part = this.#part
    const rows = part.block
    if (rows.length === 0) return
    part.block = []
    part.blockBytes = 0
    const compared = this.#compare(rows)
    this.#comparing = compared.catch(() => {}) // thrown where it is written
    await this.#writing
    this.#isWriting = true
    this.#writing = this.#write(part, rows, compared).finally(() => {
      this.#isWriting = false
    })
    this.#writing.catch(() => {}) // thrown where it is awaited
  }

  async #write(part: Part<Row>, rows: Block<Row>, compared: ReturnType<Compare<Row>>): Promise<void> {
    const changes = await compared
    if (part.isVoid) return
    for (const { listed, digest, state } of rows) this.#listed.learn(listed, digest, state)
    part.added += changes.added.length
    part.changed += changes.changed.length
    part.fired += changes.began.length
    part.recovered += changes.ended.length
    await this.#changes?.write(changes)
  }
}
