import { setImmediate } from 'node:timers/promises'
import { counted } from '#src/model/counted.ts'
import type { Drift } from '#src/model/listing.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { CallContext, PlatformClient } from './client.ts'
import { joinDrift } from './declared.ts'
import type { McpPage, ReadServers } from './list-page.ts'
import { BEGINS, type Listing } from './listing.ts'
import { fetchPages, type McpAsk, type McpPages } from './mcp-pages.ts'

const MAX_PASSES = 3

/** Rows that are written before they are confirmed, at a kilobyte each, and how many between two looks for answers. */
const MAX_PREPARED = 20_000
const PREPARED_AT_ONCE = 100

/** A `total` from here on may be a bound of the platform, which may also be that of its pages. */
const LEAST_CAP = 1_000

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
  let prepared: Promise<void> | null = null
  for (let n = 1; ; n += 1) {
    const fetched = await fetchPages(client.listMcpPage, { ...ask, readBefore }, context)
    pages += fetched.pages.length
    requests += fetched.requests
    const { refusal, requestId } = fetched
    if (refusal) return yield { kind: 'ended', pages, answer: { ok: false, refusal, requests } }

    for (const page of fetched.pages) drift.push(...page.drift)
    const pass = judgePages(fetched, ask.limit)
    let confirmed = false
    if (pass.status === 'complete') {
      const { ids, isTotalTrue } = pass
      confirmed =
        completeSets.some(earlier => isSameSet(earlier, ids)) || (isTotalTrue && (await isKnownSet(ids)))
      completeSets.push(ids)
    }
    if (!confirmed && n < MAX_PASSES && !(pass.status === 'incomplete' && pass.isHopeless)) {
      prepared ??= prepare(fetched.pages)
      prepared.catch(() => {}) // thrown where it is awaited
      continue
    }
    await prepared

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

/** Writes rows in the form in which they are stored while the next pass waits for the limit: most of its rows are these. */
async function prepare(pages: readonly McpPage[]): Promise<void> {
  const rows = pages.flatMap(({ servers }) => servers).slice(0, MAX_PREPARED)
  for (const [n, row] of rows.entries()) {
    if (n % PREPARED_AT_ONCE === 0) await setImmediate()
    if (row.kind === 'good') row.written.columns()
  }
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other)
}

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
 * there are at least `total` distinct ids. A row that does not parse counts if its id can be read. `limit` is what was asked for.
 */
export function judgePages({ pages, tooDeep }: Pick<McpPages, 'pages' | 'tooDeep'>, limit: number): Pass {
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
  // After a page that has all of the total, and fewer than were asked for, some platforms refuse another one.
  const isEnd = pages.length === 1 && size < limit && ids.size === total && total < LEAST_CAP
  if (tooDeep !== null && !isEnd) return hopeless(`the platform refused page ${tooDeep}`)
  if (changed) return incomplete(`the total went from ${total} to ${changed.total} on the way`)
  if (short !== -1) return incomplete(`page ${short + 1} was short, and more came after it`)
  if (ids.size + unreadable < rows.length) return incomplete('a server came twice')
  if (rows.length < total) return incomplete(`of ${counted(total, 'server')} only ${rows.length} came`)
  if (unreadable > 0) return hopeless('a row came whose id cannot be read')
  return { status: 'complete', ids, isTotalTrue: ids.size === total }
}
