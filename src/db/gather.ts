/**
 * Returns a function that has one item worked on. `work` runs once at a time: items that come while it runs are worked on
 * together after it. The promise for an item settles as the `work` that it was part of.
 */
export function gather<Item>(work: (items: readonly Item[]) => Promise<void>): (item: Item) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Gathered<Item> | null = null

  function open(): Gathered<Item> {
    const items: Item[] = []
    const done = last.then(() => {
      next = null
      return work(items)
    })
    last = done.catch(() => {})
    return { items, done }
  }

  return item => {
    next ??= open()
    next.items.push(item)
    return next.done
  }
}

type Gathered<Item> = { readonly items: Item[]; readonly done: Promise<void> }
