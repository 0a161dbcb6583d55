import type { CallContext, PlatformClient } from './client.ts'
import type { McpPage, McpPageAsk } from './list-page.ts'
import { MAX_SERVERS, TOO_MUCH } from './read-body.ts'
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
export function fetchPages(listPage: ListPage, ask: McpAsk, context: CallContext): Promise<McpPages> {
  return new PageFetching(listPage, ask, context).run()
}

class PageFetching {
  readonly #listPage: ListPage
  readonly #ask: McpAsk
  readonly #context: CallContext
  readonly #givingUp = new AbortController()
  readonly #pages = new Map<number, McpPage>()
  readonly #seen = new Set<string>()
  #next = 1
  /** No page after this one needs to be fetched. */
  #end = Number.POSITIVE_INFINITY
  #requests = 0
  #requestId = ''
  #rows = 0
  #tooDeep: number | null = null
  #refusal: Refusal | null = null

  constructor(listPage: ListPage, ask: McpAsk, { runId, signal }: CallContext) {
    this.#listPage = listPage
    this.#ask = ask
    this.#context = { runId, signal: AbortSignal.any([signal, this.#givingUp.signal]) }
  }

  async run(): Promise<McpPages> {
    await this.#fetchNext(this.#ask.limit)
    const first = this.#pages.get(1)
    const size = first?.servers.length ?? 0
    await this.#fetchInParallel(size, Math.ceil((first?.total ?? 0) / size))
    while (this.#mayGoOn() && isFull(this.#pages.get(this.#next - 1), size)) await this.#fetchNext(size)
    return {
      pages: [...this.#pages].sort(([a], [b]) => a - b).map(([, page]) => page),
      requests: this.#requests,
      requestId: this.#requestId,
      tooDeep: this.#tooDeep,
      refusal: this.#refusal,
    }
  }

  async #fetchInParallel(size: number, last: number): Promise<void> {
    const workers = Array.from({ length: MAX_AT_ONCE }, async () => {
      try {
        while (this.#next <= last && this.#mayGoOn()) await this.#fetchNext(size)
      } catch (error) {
        this.#givingUp.abort(error)
        throw error
      }
    })
    const fault = (await Promise.allSettled(workers)).find(worker => worker.status === 'rejected')
    if (fault && this.#refusal === null) throw fault.reason
  }

  #mayGoOn(): boolean {
    return this.#refusal === null && this.#next <= this.#end
  }

  async #fetchNext(limit: number): Promise<void> {
    const page = this.#next++
    const answer = await this.#listPage({ ...this.#ask, page, limit }, this.#context)
    this.#requests += answer.requests
    if (answer.ok) {
      this.#rows += answer.data.servers.length
      if (this.#rows > MAX_SERVERS) return this.#giveUp(tooManyRows(answer.requestId))
      this.#pages.set(page, answer.data)
      this.#requestId = answer.requestId
      const fresh = answer.data.servers
        .map(({ id, digest }) => id ?? digest)
        .filter(id => !this.#seen.has(id))
      for (const id of fresh) this.#seen.add(id)
      if (fresh.length === 0) this.#end = Math.min(this.#end, page)
    } else if (page > 1 && answer.refusal.kind === 'invalid-request') {
      this.#tooDeep = Math.min(this.#tooDeep ?? page, page)
      this.#end = Math.min(this.#end, page)
    } else {
      this.#giveUp(answer.refusal)
    }
  }

  #giveUp(refusal: Refusal): void {
    this.#refusal ??= refusal
    this.#givingUp.abort()
  }
}

function tooManyRows(requestId: string): Refusal {
  return answerTooLarge({ httpStatus: 200, requestId, retryAfterMs: null }, TOO_MUCH.servers)
}

function isFull(page: McpPage | undefined, size: number): boolean {
  return page !== undefined && page.servers.length >= size
}
