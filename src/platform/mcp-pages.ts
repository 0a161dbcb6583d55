import { MAX_SERVERS, TOO_MUCH } from './answer-size.ts'
import type { CallContext, PlatformClient } from './client.ts'
import type { McpPage, McpPageAsk } from './list-page.ts'
import { answerTooLarge, type Refusal } from './refusal.ts'

export type ListPage = PlatformClient['listMcpPage']

export type McpAsk = Pick<McpPageAsk, 'limit' | 'includeAccount' | 'readBefore'>

/** The pages of one pass: all that were answered, or those before the refusal that ended it. */
export type McpPages = {
  /** From page 1 on, without a gap unless a page was refused as too deep. */
  readonly pages: readonly McpPage[]
  readonly requests: number
  /** Of one of the pages. */
  readonly requestId: string
  /** The first page that the platform refused as an invalid request; null if there was none. */
  readonly tooDeep: number | null
  readonly refusal: Refusal | null
}

/** How many calls may wait for the throttle at a time; the throttle decides when they are sent. */
const MAX_AT_ONCE = 64

/**
 * Fetches page 1, then in parallel the others that `total` announces, then one by one until a page is short, is empty, or has
 * no new server. (A platform that ignores `p` would send the same page for ever.) Rows whose ids cannot be read are distinguished
 * by their text.
 *
 * The limit of later pages is the size that page 1 really had: a platform that lowers `limit` might compute offsets from the
 * limit in the request.
 */
export async function fetchPages(listPage: ListPage, ask: McpAsk, context: CallContext): Promise<McpPages> {
  const byNumber = new Map<number, McpPage>()
  const seen = new Set<string>()
  const progress = {
    next: 1,
    /** No page after this one needs to be fetched. */
    end: Number.POSITIVE_INFINITY,
    requests: 0,
    requestId: '',
    rows: 0,
    tooDeep: null as number | null,
    refusal: null as Refusal | null,
  }
  const givingUp = new AbortController()
  const signal = AbortSignal.any([context.signal, givingUp.signal])

  function giveUp(refusal: Refusal): void {
    progress.refusal ??= refusal
    givingUp.abort()
  }

  async function fetchNext(limit: number): Promise<void> {
    const page = progress.next++
    const answer = await listPage({ ...ask, page, limit }, { runId: context.runId, signal })
    progress.requests += answer.requests
    if (answer.ok) {
      progress.rows += answer.data.servers.length
      if (progress.rows > MAX_SERVERS) return giveUp(tooManyRows(answer.requestId))
      byNumber.set(page, answer.data)
      progress.requestId = answer.requestId
      const fresh = answer.data.servers.map(({ id, digest }) => id ?? digest).filter(id => !seen.has(id))
      for (const id of fresh) seen.add(id)
      if (fresh.length === 0) progress.end = Math.min(progress.end, page)
    } else if (page > 1 && answer.refusal.kind === 'invalid-request') {
      progress.tooDeep = Math.min(progress.tooDeep ?? page, page)
      progress.end = Math.min(progress.end, page)
    } else {
      giveUp(answer.refusal)
    }
  }
  const mayGoOn = () => progress.refusal === null && progress.next <= progress.end

  await fetchNext(ask.limit)
  const first = byNumber.get(1)
  const size = first?.servers.length ?? 0
  const lastExpected = Math.ceil((first?.total ?? 0) / size)

  async function fetchExpected(): Promise<void> {
    while (progress.next <= lastExpected && mayGoOn()) await fetchNext(size)
  }
  const workers = Array.from({ length: MAX_AT_ONCE }, () =>
    fetchExpected().catch(error => {
      givingUp.abort(error)
      throw error
    }),
  )
  const fault = (await Promise.allSettled(workers)).find(worker => worker.status === 'rejected')
  if (fault && progress.refusal === null) throw fault.reason
  while (mayGoOn() && isFull(byNumber.get(progress.next - 1), size)) await fetchNext(size)

  const { requests, requestId, tooDeep, refusal } = progress
  const pages = [...byNumber].sort(([a], [b]) => a - b).map(([, page]) => page)
  return { pages, requests, requestId, tooDeep, refusal }
}

function tooManyRows(requestId: string): Refusal {
  return answerTooLarge({ httpStatus: 200, requestId, retryAfterMs: null }, TOO_MUCH.servers)
}

function isFull(page: McpPage | undefined, size: number): boolean {
  return page !== undefined && page.servers.length >= size
}
