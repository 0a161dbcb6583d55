import { wireJson } from './json.ts'
import { Payload } from './payload.ts'
import { seededRandom, shuffle } from './random.ts'

/** Rows written as JSON at a time: one string of 200,000 rows would be flattened and copied once more. */
const ROWS_A_PIECE = 1_000

/**
 * The rows of one inventory, in the order the platform lists them, with their JSON kept until they change.
 *
 * Throws if an id is unknown, or known already: a test that changes what is not there is mistaken.
 */
export class Shelf<Id, Row extends object> {
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

  /** Puts a row before position `index`, by default at the end. */
  add(row: Row, index?: number): void {
    const id = this.#idOf(row)
    if (this.#rows.has(id)) throw new Error(`The sandbox has a row ${id} already`)
    this.#rows.set(id, row)
    if (index !== undefined) this.#arrange(this.rows().slice(0, -1).toSpliced(index, 0, row))
    this.#payloads.clear()
  }

  change(id: Id, patch: Partial<Row>): void {
    const changed = { ...this.get(id), ...patch }
    const newId = this.#idOf(changed)
    if (newId !== id)
      throw new Error(`A change cannot turn row ${id} into ${newId}: remove one, add the other`)
    this.#rows.set(id, changed)
    this.#payloads.clear()
  }

  remove(id: Id): void {
    this.get(id)
    this.#rows.delete(id)
    this.#payloads.clear()
  }

  /** Puts the same rows into another order, and the fields of each row too. */
  reorder(seed: number): void {
    const random = seededRandom(seed)
    const rows = this.rows()
    shuffle(random, rows)
    const fields = Object.keys(rows[0] ?? {})
    shuffle(random, fields)
    this.#arrange(rows.map(row => inOrder(row, fields)))
    this.#payloads.clear()
  }

  /** The wanted rows as a JSON array; `name` says which they are, and is remembered until a row changes. */
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
  for (let from = 0; from < rows.length; from += ROWS_A_PIECE) {
    const text = wireJson(rows.slice(from, from + ROWS_A_PIECE)).slice(1, -1)
    pieces.push(Buffer.from(from === 0 ? text : `,${text}`))
  }
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')])
}
