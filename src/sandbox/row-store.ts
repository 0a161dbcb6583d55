import { wireJson } from './json.ts'
import { Payload } from './payload.ts'
import { seededRandom, shuffle } from './random.ts'

/** Rows per JSON string: for one string of 200,000 rows V8 needs another copy. */
const ROWS_PER_PIECE = 1_000

/**
 * The rows of one inventory in the order of the platform's list. It caches their JSON until a row changes.
 *
 * Throws if a row to change does not exist, or a row to add exists already: then the test is wrong.
 */
export class RowStore<Id, Row extends object> {
  #rows = new Map<Id, Row>()
  readonly #payloads = new Map<string, Payload>()
  readonly #idOf: (row: Row) => Id

  constructor(idOf: (row: Row) => Id) {
    this.#idOf = idOf
  }

  get size(): number {
    return this.#rows.size
  }

  ids(): Id[] {
    return [...this.#rows.keys()]
  }

  rows(): Row[] {
    return [...this.#rows.values()]
  }

  get(id: Id): Row {
    const row = this.#rows.get(id)
    if (row === undefined) throw new Error(`The sandbox has no row ${id}`)
    return row
  }

  /** Adds a row before position `index`, by default at the end. */
  add(row: Row, index?: number): void {
    const id = this.#idOf(row)
    if (this.#rows.has(id)) throw new Error(`The sandbox already has a row ${id}`)
    this.#rows.set(id, row)
    if (index !== undefined) this.#arrange(this.rows().slice(0, -1).toSpliced(index, 0, row))
    this.#payloads.clear()
  }

  change(id: Id, patch: Partial<Row>): void {
    const changed = { ...this.get(id), ...patch }
    const newId = this.#idOf(changed)
    if (newId !== id)
      throw new Error(`A change cannot turn row ${id} into ${newId}. Remove the one and add the other.`)
    this.#rows.set(id, changed)
    this.#payloads.clear()
  }

  remove(id: Id): void {
    this.get(id)
    this.#rows.delete(id)
    this.#payloads.clear()
  }

  /** Changes the order of the rows, and of the fields in each row. */
  reorder(seed: number): void {
    const random = seededRandom(seed)
    const rows = this.rows()
    shuffle(random, rows)
    const fields = Object.keys(rows[0] ?? {})
    shuffle(random, fields)
    this.#arrange(rows.map(row => inOrder(row, fields)))
    this.#payloads.clear()
  }

  /** The wanted rows as a JSON array, cached under `name` until a row changes. */
  payload(name: string, wanted: (row: Row) => boolean): Payload {
    const known = this.#payloads.get(name)
    if (known !== undefined) return known
    const payload = new Payload(arrayOf(this.rows().filter(wanted)))
    this.#payloads.set(name, payload)
    return payload
  }

  #arrange(rows: readonly Row[]): void {
    this.#rows = new Map(rows.map(row => [this.#idOf(row), row]))
  }
}

function inOrder<Row extends object>(row: Row, fields: readonly string[]): Row {
  const known = fields.filter(field => Object.hasOwn(row, field))
  return { ...Object.fromEntries(known.map(field => [field, row[field as keyof Row]])), ...row }
}

function arrayOf(rows: readonly object[]): Buffer {
  const pieces: Buffer[] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_PIECE) {
    const text = wireJson(rows.slice(from, from + ROWS_PER_PIECE)).slice(1, -1)
    pieces.push(Buffer.from(from === 0 ? text : `,${text}`))
  }
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')])
}
