import { canonicalMcpServer } from '#src/model/fingerprint.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import { readMcpServers } from '#src/platform/mcp-listing.ts'
import type { InventoryAccount } from './context.ts'
import type { InventorySource, Reading, ReadRequest } from './source.ts'
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
    read: request => readPages(account, request),
  }
}

async function readPages(account: InventoryAccount, request: ReadRequest): Promise<Reading<McpServer>> {
  const { pageLimit: limit, includeAccount, client } = account
  const reading = await readMcpServers(client, { limit, includeAccount }, request.isKnownSet, request)
  const { requests, pages } = reading
  if (reading.status === 'refused') return { kind: 'refused', refusal: reading.refusal, requests, pages }
  return {
    kind: 'read',
    requests,
    pages,
    listing: reading.listing,
    incomplete: reading.status === 'partial' ? reading.why : null,
    confirmed: reading.status === 'complete',
    dataHashes: null,
  }
}
