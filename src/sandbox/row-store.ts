import { wireJson } from './json.ts'
import { Payload } from './payload.ts'
import { seededRandom, shuffle } from './random.ts'

/** Half a megabyte of rules: a few milliseconds to make, and enough to compress well. */
const ROWS_PER_PIECE = 1_000

/** A row, or the number of the sample that it still is. */
type Kept<Row> = Row | number

/**
 * The rows of one inventory in the order of the platform's list. It caches their JSON, gzipped, until a row changes.
 *
 * Of a sample row it keeps only the number, until the row changes: a million rules take 80 MB with their JSON, and 60 MB
 * more once one has changed. Every read makes such a row anew. Throws if a row to change does not exist, or a row to add
 * exists already: then the test is wrong.
 */
export class RowStore<Id, Row extends object> {
  #rows = new Map<Id, Kept<Row>>()
  /** The rows are this many samples, from number 0 on: they are put into `#rows` when one is asked for or changes. */
  #onlySamples = 0
  /** The order of the fields in each row; empty means as the row has them. */
  #fields: readonly string[] = []
  readonly #listings = new Map<string, readonly Payload[]>()
  readonly #chosen = new Map<string, readonly Row[]>()
  readonly #idOf: (row: Row) => Id
  readonly #sample: (number: number) => Row

  /** `sample` returns the sample row of a number, always the same one. Without it there are none. */
  constructor(idOf: (row: Row) => Id, sample: (number: number) => Row = noSample) {
    this.#idOf = idOf
    this.#sample = sample
  }

  get size(): number {
    return this.#onlySamples + this.#rows.size
  }

  ids(): Id[] {
    return [...this.#byId().keys()]
  }

  rows(): Row[] {
    return this.#inOrder().map(kept => this.#rowOf(kept))
  }

  get(id: Id): Row {
    const kept = this.#byId().get(id)
    if (kept === undefined) throw new Error(`The sandbox has no row ${id}`)
    return this.#rowOf(kept)
  }

  /** Adds a row before position `index`, by default at the end. */
  add(row: Row, index?: number): void {
    const id = this.#idOf(row)
    this.#addLast(id, row)
    if (index !== undefined) this.#arrange(this.ids().slice(0, -1).toSpliced(index, 0, id))
  }

  /** Adds the sample row of this number at the end. */
  addSample(number: number): void {
    if (number === this.size && this.#rows.size === 0) {
      this.#onlySamples += 1
      // To clear an empty map a million times makes 100 MB of garbage.
      if (this.#listings.size + this.#chosen.size > 0) this.#forget()
    } else this.#addLast(this.#idOf(this.#sample(number)), number)
  }

  change(id: Id, patch: Partial<Row>): void {
    const changed = { ...this.get(id), ...patch }
    const newId = this.#idOf(changed)
    if (newId !== id)
      throw new Error(`A change cannot turn row ${id} into ${newId}. Remove the one and add the other.`)
    this.#rows.set(id, changed)
    this.#forget()
  }

  remove(id: Id): void {
    this.get(id)
    this.#rows.delete(id)
    this.#forget()
  }

  /** Changes the order of the rows, and of the fields in each row unless `keepsFields`. */
  reorder(seed: number, keepsFields = false): void {
    const random = seededRandom(seed)
    const ids = this.ids()
    shuffle(random, ids)
    this.#arrange(ids)
    this.#forget()
    if (keepsFields) return
    const [first] = ids
    const fields = first === undefined ? [] : Object.keys(this.get(first))
    shuffle(random, fields)
    this.#fields = fields
  }

  /**
   * The wanted rows as they are now, as the pieces of a JSON array, cached under `name` until a row changes; none if there
   * are no such rows. The pieces of a long array are made when they are sent.
   */
  listing(name: string, wanted: (row: Row) => boolean): readonly Payload[] {
    const known = this.#listings.get(name)
    if (known !== undefined) return known
    const all = this.#inOrder()
    const from = all.findIndex(kept => wanted(this.#rowOf(kept)))
    const pieces = from === -1 ? [] : this.#piecesOf(from === 0 ? all : all.slice(from), wanted)
    this.#listings.set(name, pieces)
    return pieces
  }

  /** The wanted rows as they are now, in their order, cached under `name` until a row changes. */
  chosen(name: string, wanted: (row: Row) => boolean): readonly Row[] {
    return this.#chosen.getOrInsertComputed(name, () => this.rows().filter(wanted))
  }

  /** The first of `all` is wanted. */
  #piecesOf(all: readonly Kept<Row>[], wanted: (row: Row) => boolean): Payload[] {
    const fields = this.#fields
    const bytesFrom = (from: number) => {
      const rows = all.slice(from, from + ROWS_PER_PIECE).map(kept => this.#rowOf(kept, fields))
      const bytes = Buffer.from(wireJson(rows.filter(wanted)))
      if (from > 0) bytes.write(',')
      return bytes.length === 2 ? bytes.subarray(2) : bytes.subarray(0, -1)
    }
    const close = new Payload(']')
    if (all.length <= ROWS_PER_PIECE) return [new Payload(bytesFrom(0)), close]
    const count = Math.ceil(all.length / ROWS_PER_PIECE)
    const make = (piece: number) => new Payload(() => bytesFrom(piece * ROWS_PER_PIECE))
    return [...Array.from({ length: count }, (_, piece) => make(piece)), close]
  }

  #rowOf(kept: Kept<Row>, fields = this.#fields): Row {
    const row = typeof kept === 'number' ? this.#sample(kept) : kept
    return fields.length === 0 ? row : inOrder(row, fields)
  }

  #inOrder(): Kept<Row>[] {
    return this.#onlySamples > 0 ? [...Array(this.#onlySamples).keys()] : [...this.#rows.values()]
  }

  /** What was made of rows that have changed. */
  #forget(): void {
    this.#listings.clear()
    this.#chosen.clear()
  }

  #byId(): ReadonlyMap<Id, Kept<Row>> {
    const samples = this.#onlySamples
    this.#onlySamples = 0
    for (let number = 0; number < samples; number++) this.#rows.set(this.#idOf(this.#sample(number)), number)
    return this.#rows
  }

  #addLast(id: Id, kept: Kept<Row>): void {
    if (this.#byId().has(id)) throw new Error(`The sandbox already has a row ${id}`)
    this.#rows.set(id, kept)
    this.#forget()
  }

  #arrange(ids: readonly Id[]): void {
    const before = this.#byId()
    this.#rows = new Map()
    for (const id of ids) this.#rows.set(id, before.get(id) as Kept<Row>)
  }
}

function noSample(number: number): never {
  throw new Error(`Sample row ${number} does not exist`)
}

function inOrder<Row extends object>(row: Row, fields: readonly string[]): Row {
  const known = fields.filter(field => Object.hasOwn(row, field))
  return { ...Object.fromEntries(known.map(field => [field, row[field as keyof Row]])), ...row }
}
