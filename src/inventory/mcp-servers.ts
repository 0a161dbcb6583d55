import { createIdSet } from '#src/inventory/read/listed-rows.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import { listMcpServers } from '#src/platform/mcp-listing.ts'
import type { InventoryAccount } from './context.ts'
import type { InventorySource } from './source.ts'
import { MCP_SERVER_VERSIONS } from './versioned-tables.ts'

/** MCP servers: pages that may shift while they are read, so two listings must agree on a change of the ids. */
export function mcpServers(account: InventoryAccount): InventorySource<McpServer> {
  const { client, includeAccount } = account
  return {
    resource: 'mcp-servers',
    table: MCP_SERVER_VERSIONS,
    scope: { folders: null, includeAccount, keyHash: account.keyHash },
    folders: null,
    flagsOf: () => undefined,
    isFiring: null,
    accountIdOf: server => server.account_id,
    createListedRows: createIdSet,
    list: ({ isKnownSet, ...call }) =>
      listMcpServers(client, { limit: account.pageLimit, includeAccount }, isKnownSet, call),
  }
}
