import { canonicalMcpServer } from '#src/model/fingerprint.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import { readMcpServers } from '#src/platform/mcp-listing.ts'
import type { InventoryAccount } from './context.ts'
import { createIdSet } from './listed-rows.ts'
import type { InventorySource, ReadRequest, ReadResult } from './source.ts'
import { MCP_SERVER_VERSIONS } from './versioned-tables.ts'

/** MCP servers: pages that may shift while they are read, so two listings must agree on a change of the ids. */
export function mcpServers(account: InventoryAccount): InventorySource<McpServer> {
  return {
    resource: 'mcp-servers',
    table: MCP_SERVER_VERSIONS,
    scope: { folders: null, includeAccount: account.includeAccount, keyHash: account.keyHash },
    folders: null,
    canonical: canonicalMcpServer,
    flagsOf: () => undefined,
    isFiring: null,
    accountIdOf: server => server.account_id,
    createListedRows: createIdSet,
    read: request => readPages(account, request),
  }
}

/** The pages are kept until a listing is known to be whole; it is handed over then. */
async function readPages(account: InventoryAccount, request: ReadRequest<McpServer>): Promise<ReadResult> {
  const { pageLimit: limit, includeAccount, client } = account
  const reading = await readMcpServers(client, { limit, includeAccount }, request.isKnownSet, request)
  const { requests, pages } = reading
  if (reading.status === 'refused') return { kind: 'refused', refusal: reading.refusal, requests, pages }
  const { rows, altered, quarantined, drift } = reading.listing
  const sink = request.part()
  await sink.ready()
  sink.begin()
  for (const [n, row] of rows.entries()) {
    sink.take({ ...NOT_KNOWN, id: row.server_id, row, altered: altered.get(n) ?? [] })
    await sink.settle()
  }
  for (const row of quarantined) sink.take(row)
  return {
    kind: 'read',
    requests,
    pages,
    drift,
    incomplete: reading.status === 'partial' ? reading.why : null,
    confirmed: reading.status === 'complete',
    dataHashes: null,
  }
}

/** Of a row whose text is not known, and which came only once. */
const NOT_KNOWN = { position: 0, digest: '', bytes: 0 }
