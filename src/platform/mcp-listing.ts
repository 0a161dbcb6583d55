import type { Listing } from '#src/model/listing.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { CallContext, PlatformClient } from './client.ts'
import type { ReadServers } from './list-page.ts'
import { fetchPages, type McpAsk } from './mcp-pages.ts'
import { judgePages } from './mcp-pass.ts'
import type { Refusal } from './refusal.ts'

/** The result of reading all MCP servers. */
export type McpReading = { readonly pages: number; readonly requests: number } & (
  | { readonly status: 'refused'; readonly refusal: Refusal }
  /** It has every server: a second pass, or the ids already stored, agree with it. */
  | { readonly status: 'complete'; readonly listing: Listing<McpServer> }
  /** Its rows are right, but a server that it lacks may still exist. */
  | { readonly status: 'partial'; readonly listing: Listing<McpServer>; readonly why: string }
)

const MAX_PASSES = 3

/**
 * Reads every MCP server that the key may view, although the list may change between two pages.
 *
 * One pass over the pages can miss a server unnoticed: a server on a page already read is deleted, another one is added at
 * the end, and a server between them moves to the page already read. `total` stays the same. But such a pass contains a
 * server that no longer exists, so no later pass has the same ids, and neither have the stored ones. Hence:
 *
 *     pass ──► incomplete ────────────────────────────────► again, three passes at most, then `partial`
 *          └─► complete ──┬─► same ids as stored ─────────► `complete`
 *                         ├─► same ids as an earlier pass ► `complete`
 *                         └─► other ids ──────────────────► again
 *
 * If fewer servers are in `total` than came, it is not the size of the list (it may be capped at 1,000). The stored ids may
 * then be just as incomplete, so only another pass can confirm. `isKnownSet` tells whether these are exactly the ids stored
 * as current.
 */
export async function readMcpServers(
  client: Pick<PlatformClient, 'listMcpPage'>,
  ask: Omit<McpAsk, 'readBefore'>,
  isKnownSet: (ids: ReadonlySet<string>) => Promise<boolean> | boolean,
  context: CallContext,
): Promise<McpReading> {
  const completeSets: ReadonlySet<string>[] = []
  const readBefore: ReadServers = new Map()
  let pages = 0
  let requests = 0
  for (let n = 1; ; n += 1) {
    const fetched = await fetchPages(client.listMcpPage, { ...ask, readBefore }, context)
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
    if (n < MAX_PASSES && !(pass.status === 'incomplete' && pass.isHopeless)) continue
    const why = pass.status === 'incomplete' ? pass.why : 'no two readings had the same servers'
    return { status: 'partial', listing, why, pages, requests }
  }
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other)
}
