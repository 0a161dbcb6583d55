import type { Drift } from '#src/model/listing.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { CallContext, PlatformClient } from './client.ts'
import { joinDrift } from './declared.ts'
import type { ReadServers } from './list-page.ts'
import { BEGINS, type Listing } from './listing.ts'
import { fetchPages, type McpAsk } from './mcp-pages.ts'
import { judgePages } from './mcp-pass.ts'

const MAX_PASSES = 3

/**
 * Lists every MCP server that the key may view, although the list may change between two pages.
 *
 * One pass over the pages can miss a server unnoticed: a server on a page already read is deleted, another one is added at
 * the end, and a server between them moves to the page already read. `total` stays the same. But such a pass contains a
 * server that no longer exists, so its ids differ from those of any later pass and from the stored ones. Hence:
 *
 *     pass ──► incomplete ────────────────────────────────► again, three passes at most, then incomplete
 *          └─► complete ──┬─► same ids as stored ─────────► confirmed
 *                         ├─► same ids as an earlier pass ► confirmed
 *                         └─► other ids ──────────────────► again
 *
 * If `total` is smaller than the number of servers that came, it is not the size of the list (it may be capped at 1,000). The
 * stored ids may be just as incomplete, so only another pass can confirm. `isKnownSet` tells whether these are exactly the ids
 * stored as current.
 */
export async function* listMcpServers(
  client: Pick<PlatformClient, 'listMcpPage'>,
  ask: Omit<McpAsk, 'readBefore'>,
  isKnownSet: (ids: ReadonlySet<string>) => Promise<boolean> | boolean,
  context: CallContext,
): Listing<McpServer> {
  const completeSets: ReadonlySet<string>[] = []
  const readBefore: ReadServers = new Map()
  const drift: Drift[] = []
  let pages = 0
  let requests = 0
  for (let n = 1; ; n += 1) {
    const fetched = await fetchPages(client.listMcpPage, { ...ask, readBefore }, context)
    pages += fetched.pages.length
    requests += fetched.requests
    const { refusal, requestId } = fetched
    if (refusal) return yield { kind: 'ended', pages, answer: { ok: false, refusal, requests } }

    for (const page of fetched.pages) drift.push(...page.drift)
    const pass = judgePages(fetched)
    let confirmed = false
    if (pass.status === 'complete') {
      const { ids, isTotalTrue } = pass
      confirmed =
        completeSets.some(earlier => isSameSet(earlier, ids)) || (isTotalTrue && (await isKnownSet(ids)))
      completeSets.push(ids)
    }
    if (!confirmed && n < MAX_PASSES && !(pass.status === 'incomplete' && pass.isHopeless)) continue

    const why = pass.status === 'incomplete' ? pass.why : 'no two readings had the same servers'
    let position = 0
    yield BEGINS
    for (const { servers } of fetched.pages) {
      yield { kind: 'rows', rows: servers.map(row => ({ ...row, position: position++ })) }
    }
    const incomplete = confirmed ? null : why
    const data = { rows: position, drift: joinDrift(drift), dataHash: null, incomplete, confirmed }
    return yield { kind: 'ended', pages, answer: { ok: true, data, requestId, requests } }
  }
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other)
}
