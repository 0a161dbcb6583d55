import type { Drift } from '#src/model/listing.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { Answer } from './answer.ts'
import { McpPageData } from './contract.ts'
import type { ListingStep, ReadRow } from './listing.ts'
import { listRequest, type PlatformRequest } from './request.ts'
import { MCP_SERVERS } from './row-kinds.ts'

export type McpPageAsk = {
  readonly page: number
  readonly limit: number
  readonly includeAccount: boolean
  /** The rows read so far. A row that comes again is not parsed again; new rows are added. */
  readonly readBefore?: ReadServers
}

/** Rows by their digests. */
export type ReadServers = Map<string, ReadRow<McpServer>>

export type McpPage = {
  readonly total: number
  readonly servers: readonly ReadRow<McpServer>[]
  readonly drift: readonly Drift[]
}

type ReadPage = <Body, T>(
  request: PlatformRequest<ListingStep<McpServer>, Body, T>,
) => AsyncGenerator<ListingStep<McpServer>, Answer<T>>

/** Asks for one page of MCP servers and keeps its rows. */
export async function listPage(
  { page, limit, includeAccount, readBefore = new Map() }: McpPageAsk,
  read: ReadPage,
): Promise<Answer<McpPage>> {
  const body = { p: page, limit, include_account: includeAccount }
  const find = (digest: string) => (readBefore.has(digest) ? 0 : -1)
  const steps = read(listRequest('list-mcp-servers', body, MCP_SERVERS, McpPageData, find))
  let servers: ReadRow<McpServer>[] = []
  for (;;) {
    const { done, value } = await steps.next()
    if (done) {
      if (!value.ok) return value
      // Only now: what the next attempt knew would not be looked at for undeclared fields.
      for (const row of servers) readBefore.set(row.digest, row)
      const { data, listing } = value.data
      return { ...value, data: { total: data.total, servers, drift: listing.drift } }
    }
    if (value.kind === 'begins') servers = []
    if (value.kind !== 'rows') continue
    for (const row of value.rows) {
      servers.push(row.kind === 'known' ? (readBefore.get(row.digest) ?? row.read()) : row)
    }
  }
}
