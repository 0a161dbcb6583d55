import type { McpPages } from './mcp-pages.ts'

/** The judgement of one pass. */
export type Pass =
  | {
      readonly status: 'complete'
      readonly ids: ReadonlySet<string>
      /** False if more servers came than `total` says: `total` is not the size of the list. */
      readonly isTotalTrue: boolean
    }
  | {
      readonly status: 'incomplete'
      readonly why: string
      /** Another pass would end the same way. */
      readonly isHopeless: boolean
    }

/**
 * Decides whether pages are complete: every page was answered, `total` is the same on each, no page but the last is short, and
 * there are at least `total` distinct ids. A row that does not parse counts if its id can be read.
 */
export function judgePages({ pages, tooDeep }: Pick<McpPages, 'pages' | 'tooDeep'>): Pass {
  const rows = pages.flatMap(page => page.servers)
  const ids = new Set(rows.flatMap(({ id }) => id ?? []))
  const unreadable = rows.filter(({ id }) => id === null).length

  const total = pages[0]?.total ?? 0
  const size = pages[0]?.servers.length ?? 0
  const last = pages.findLastIndex(page => page.servers.length > 0)
  // Some platforms send a `total` of 0 on the empty page after the last one.
  const changed = pages.find(page => page.total !== total && !(page.total === 0 && page.servers.length === 0))
  const short = pages.findIndex((page, n) => n < last && page.servers.length < size)

  const incomplete = (why: string): Pass => ({ status: 'incomplete', why, isHopeless: false })
  const hopeless = (why: string): Pass => ({ status: 'incomplete', why, isHopeless: true })
  if (tooDeep !== null) return hopeless(`the platform refused page ${tooDeep}`)
  if (changed) return incomplete(`the total went from ${total} to ${changed.total} on the way`)
  if (short !== -1) return incomplete(`page ${short + 1} was short, and more came after it`)
  if (ids.size + unreadable < rows.length) return incomplete('a server came twice')
  if (rows.length < total) return incomplete(`of ${total} servers only ${rows.length} came`)
  if (unreadable > 0) return hopeless('a row came whose id cannot be read')
  return { status: 'complete', ids, isTotalTrue: ids.size === total }
}
