import type { PlatformClient } from '#src/platform/client.ts'
import type { McpPage } from '#src/platform/list-page.ts'
import { readRow } from '#src/platform/read-rows.ts'
import { MCP_SERVERS } from '#src/platform/row-kinds.ts'

export type McpRequest = { readonly page: number; readonly limit: number }

/**
 * A platform's list of MCP servers in memory, paged as the contract says. `before` runs ahead of each answer, with
 * what is asked and the number of the call from 1: there the list may change, or an answer of another kind be given.
 */
export function openMcpList(
  ids: readonly string[],
  {
    maxPerPage = 100,
    total = rows => rows.length,
    before = () => undefined,
  }: {
    maxPerPage?: number
    total?: (rows: readonly unknown[], asked: McpRequest) => number
    before?: (asked: McpRequest, n: number) => Awaited<ReturnType<PlatformClient['listMcpPage']>> | undefined
  } = {},
) {
  const list = { rows: ids.map(id => server(id)) as unknown[], asked: [] as McpRequest[] }
  const listMcpPage: PlatformClient['listMcpPage'] = async ({ page, limit }) => {
    const asked = { page, limit }
    list.asked.push(asked)
    const other = before(asked, list.asked.length)
    if (other) return other
    const size = Math.min(limit, maxPerPage)
    const servers = list.rows.slice((page - 1) * size, page * size)
    const data = mcpPage(servers, total(list.rows, asked))
    return { ok: true, data, requestId: `req-${list.asked.length}`, requests: 1 }
  }
  return Object.assign(list, { listMcpPage })
}

/** A page with these rows, as if they had come over the network. */
export function mcpPage(servers: readonly unknown[], total = servers.length): McpPage {
  return { total, servers: servers.map(raw => ({ raw, ...readRow(MCP_SERVERS, raw, false) })) }
}

export function server(id: string): { server_id: string; server_name: string } {
  return { server_id: id, server_name: `Server ${id}` }
}
