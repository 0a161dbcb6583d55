import type { Listing } from '#src/model/listing.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { McpPage } from './list-page.ts'
import type { McpPages } from './mcp-pages.ts'
import { joinRows } from './read-rows.ts'
import { MCP_SERVERS } from './row-kinds.ts'

/** What the pages of one pass amount to. */
export type Pass = { readonly listing: Listing<McpServer>; readonly ids: ReadonlySet<string> } & (
  | {
      readonly status: 'complete'
      /** False if more servers came than `total` says: then `total` is not the size of the list. */
      readonly isTotalTrue: boolean
    }
  | {
      readonly status: 'incomplete'
      readonly why: string
      /** Another pass would end the same way. */
      readonly isHopeless: boolean
    }
)

/**
 * Joins the pages and decides whether they are complete: every page was answered, `total` is the same on each, no page but
 * the last is short, and there are at least `total` distinct ids. A row that does not parse counts if its id can be read.
 */
export function judgePages({ pages, tooDeep }: McpPages): Pass {
  const delivered = pages.flatMap(page => page.servers)
  const listing = joinRows(MCP_SERVERS.declared, delivered)
  const { rows, quarantined } = listing
  const ids = new Set([...rows.map(row => row.server_id), ...quarantined.flatMap(({ id }) => id ?? [])])
  const unreadable = quarantined.filter(({ id }) => id === null).length

  const total = pages[0]?.total ?? 0
  const size = pages[0]?.servers.length ?? 0
  const last = pages.findLastIndex(page => page.servers.length > 0)
  const changed = pages.find(page => page.total !== total && !isPastTheEnd(page))
  const short = pages.findIndex((page, n) => n < last && page.servers.length < size)

  const incomplete = (why: string): Pass => ({ status: 'incomplete', listing, ids, why, isHopeless: false })
  const hopeless = (why: string): Pass => ({ status: 'incomplete', listing, ids, why, isHopeless: true })
  if (tooDeep !== null) return hopeless(`the platform refused page ${tooDeep}`)
  if (changed) return incomplete(`the total went from ${total} to ${changed.total} on the way`)
  if (short !== -1) return incomplete(`page ${short + 1} was short, and more came after it`)
  if (ids.size + unreadable < delivered.length) return incomplete('a server came twice')
  if (delivered.length < total) return incomplete(`of ${total} servers only ${delivered.length} came`)
  if (unreadable > 0) return hopeless('a row came whose id cannot be read')
  return { status: 'complete', listing, ids, isTotalTrue: ids.size === total }
}

/** Some platforms send a `total` of 0 on the empty page after the last one. */
function isPastTheEnd({ servers, total }: McpPage): boolean {
  return servers.length === 0 && total === 0
}
