import { hash } from 'node:crypto'
import { expect } from 'vitest'
import { MCP_SERVER, type McpServer } from '#src/model/mcp-server.ts'
import type { CallContext, PlatformClient } from '#src/platform/client.ts'
import type { McpPage } from '#src/platform/list-page.ts'
import { listMcpServers } from '#src/platform/mcp-listing.ts'
import { readRow } from '#src/platform/read-rows.ts'
import { MCP_SERVERS } from '#src/platform/row-kinds.ts'
import { rowWriter } from '#src/platform/written-row.ts'
import { collectRows } from './collect-rows.ts'

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
  return { total, servers: servers.map(listed), drift: [] }
}

function listed(raw: unknown, position: number): McpPage['servers'][number] {
  const read = readRow(MCP_SERVERS, raw, false)
  const json = JSON.stringify(raw)
  const digest = hash('sha256', json, 'latin1')
  const id = read.id === null ? null : `${read.id}`
  if ('reason' in read) return { kind: 'quarantined', digest, position, id, reason: read.reason, raw: json }
  return {
    ...read,
    kind: 'good',
    digest,
    position,
    id: `${id}`,
    bytes: json.length,
    written: WRITE(read.row),
    declared: () => json,
  }
}

const WRITE = rowWriter(MCP_SERVER)

/** Lists all servers and returns what that came to, beside their rows. */
export async function readServers(
  client: Pick<PlatformClient, 'listMcpPage'>,
  ask: { readonly limit: number; readonly includeAccount: boolean },
  isKnownSet: (ids: ReadonlySet<string>) => boolean,
  context: CallContext,
) {
  const taken = collectRows<McpServer>()
  for await (const step of listMcpServers(client, ask, isKnownSet, context)) {
    taken.take(step)
    if (step.kind !== 'ended') continue
    const { pages, answer } = step
    if (!answer.ok) return { status: 'refused' as const, pages, ...answer, ...taken }
    const { incomplete: why, confirmed, drift } = answer.data
    expect(confirmed).toBe(why === null)
    return {
      status: confirmed ? ('complete' as const) : ('partial' as const),
      pages,
      requests: answer.requests,
      why,
      drift,
      ...taken,
    }
  }
  throw new Error('the listing has no end')
}

export function server(id: string): { server_id: string; server_name: string } {
  return { server_id: id, server_name: `Server ${id}` }
}
