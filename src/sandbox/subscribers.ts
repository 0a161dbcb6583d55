/** How one recipient is subscribed: as in the last delivery, which replaces the earlier ones. */
export type Subscription = {
  readonly all: boolean
  readonly componentIds: readonly string[]
  readonly locale: string
}

/** A recipient's subscription and how many times it was delivered. More than one means that it was sent again. */
export type Delivered = Subscription & { readonly recipient: string; readonly deliveries: number }

/** The status pages and their subscribers. */
export class Subscribers {
  readonly #pages: Set<bigint>
  readonly #lists = new Map<string, Map<string, Delivered>>()

  constructor(pages: Iterable<bigint>) {
    this.#pages = new Set(pages)
  }

  addPage(pageId: bigint): void {
    this.#pages.add(pageId)
  }

  hasPage(pageId: bigint): boolean {
    return this.#pages.has(pageId)
  }

  deliver(pageId: bigint, method: string, recipient: string, subscription: Subscription): void {
    const list = this.#listOf(pageId, method)
    const deliveries = (list.get(recipient)?.deliveries ?? 0) + 1
    list.set(recipient, { recipient, ...subscription, deliveries })
  }

  /** One recipient of a page; undefined if it was never imported there. */
  get(pageId: bigint, method: string, recipient: string): Delivered | undefined {
    return this.#listOf(pageId, method).get(recipient)
  }

  /** All subscribers of a page, in order of their first delivery. */
  list(pageId: bigint, method: string): Delivered[] {
    return [...this.#listOf(pageId, method).values()]
  }

  count(pageId: bigint, method: string): number {
    return this.#listOf(pageId, method).size
  }

  #listOf(pageId: bigint, method: string): Map<string, Delivered> {
    const name = `${pageId} ${method}`
    const list = this.#lists.get(name) ?? new Map<string, Delivered>()
    this.#lists.set(name, list)
    return list
  }
}
