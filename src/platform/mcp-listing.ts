import type { Listing } from '#src/model/listing.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { CallContext, PlatformClient } from './client.ts'
import { fetchPages, type McpAsk } from './mcp-pages.ts'
import { judgePages } from './mcp-pass.ts'
import type { Refusal } from './refusal.ts'

/** What reading all MCP servers came to. */
export type McpReading = { readonly pages: number; readonly requests: number } & (
  | { readonly status: 'refused'; readonly refusal: Refusal }
  /** Every server is in it: a second reading, or what is known already, agrees on the ids. */
  | { readonly status: 'complete'; readonly listing: Listing<McpServer> }
  /** What is in it is true; what is absent means nothing. */
  | { readonly status: 'partial'; readonly listing: Listing<McpServer>; readonly why: string }
)

const MOST_PASSES = 3

/**
 * Reads every MCP server the key may see, although the list may shift between one page and the next.
 *
 * A pass over the pages can miss a server without a trace: one is deleted on a page already read, another added at
 * the end, and the server between them moves to the page that was read. `total` was the same all the time. But then
 * the pass holds one that is gone, so no later pass has the same ids, nor has what is known. Hence:
 *
 *     pass ──► incomplete ────────────────────────────────► again, three passes at most, then `partial`
 *          └─► complete ──┬─► same ids as known ──────────► `complete`
 *                         ├─► same ids as a pass before ──► `complete`
 *                         └─► other ids ──────────────────► again
 *
 * A `total` smaller than what came is not the size of the list (it may be frozen at 1,000), and then what is known was
 * perhaps no better: only another pass will do. `isKnownSet` says whether these are exactly the ids stored as current.
 */
export async function readMcpServers(
  client: Pick<PlatformClient, 'listMcpPage'>,
  ask: McpAsk,
  isKnownSet: (ids: ReadonlySet<string>) => Promise<boolean> | boolean,
  context: CallContext,
): Promise<McpReading> {
  const completeSets: ReadonlySet<string>[] = []
  let pages = 0
  let requests = 0
  for (let n = 1; ; n += 1) {
    const fetched = await fetchPages(client.listMcpPage, ask, context)
    pages += fetched.pages.length
    requests += fetched.requests
    if (fetched.refusal) return { status: 'refused', refusal: fetched.refusal, pages, requests }

    const pass = judgePages(fetched)
    const { listing } = pass
    if (pass.status === 'complete') {
      const { ids, isTotalTrue } = pass
      const isConfirmed =
        completeSets.some(earlier => isSameSet(earlier, ids)) || (isTotalTrue && (await isKnownSet(ids)))
      if (isConfirmed) return { status: 'complete', listing, pages, requests }
      completeSets.push(ids)
    }
    if (n < MOST_PASSES && !(pass.status === 'incomplete' && pass.isHopeless)) continue
    const why = pass.status === 'incomplete' ? pass.why : 'no two readings had the same servers'
    return { status: 'partial', listing, why, pages, requests }
  }
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other)
}
