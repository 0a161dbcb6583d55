import type { Listing } from '#src/model/listing.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { McpPage } from './client.ts'
import type { McpPages } from './mcp-pages.ts'
import { readRows } from './read-rows.ts'
import { MCP_SERVERS } from './row-kinds.ts'

/** What the pages of one reading amount to. */
export type Pass = { readonly listing: Listing<McpServer>; readonly ids: ReadonlySet<string> } & (
  | {
      readonly status: 'complete'
      /** False if more came than the platform says there are: then `total` is not the size of the list. */
      readonly isTotalTrue: boolean
    }
  | {
      readonly status: 'incomplete'
      readonly why: string
      /** Reading again would end the same way. */
      readonly isHopeless: boolean
    }
)

/**
 * Puts pages together. Complete means: every page answered, the same `total` on each, none short but the last, as
 * many distinct ids as `total` or more. A row that does not parse counts if its id can be read.
 */
export function judgePages({ pages, tooDeep }: McpPages): Pass {
  const delivered = pages.flatMap(page => page.servers)
  const mayBeDirty = pages.some(page => page.mayBeDirty)
  const listing = readRows(MCP_SERVERS, delivered, mayBeDirty)
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

/** Some platforms count only what they send: past the last page that is nothing. */
function isPastTheEnd({ servers, total }: McpPage): boolean {
  return servers.length === 0 && total === 0
}
