import { z } from 'zod'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { Result } from './answer.ts'
import { Integer, readBody } from './body.ts'
import { wireJson } from './json.ts'
import type { AppKey } from './keys.ts'
import { Payload } from './payload.ts'
import type { SandboxState } from './state.ts'

const ServerListBody = z.object({
  p: Integer.default(1n),
  limit: Integer.optional(),
  include_account: z.boolean().default(true),
})

/**
 * Section 4.3: one page of the account's MCP servers.
 *
 * The contract does not define bounds and the flag. Here a page or size out of bounds is set to the nearest bound,
 * and `include_account: false` leaves out the account-level servers (team 0).
 */
export function listServers(state: SandboxState, key: AppKey, body: unknown): Result {
  const read = readBody(ServerListBody, body)
  if (!read.ok) return read
  if (state.serversBody !== null) return { ok: true, data: [new Payload(state.serversBody)] }
  const { defaultPageSize, maxPageSize } = state.options
  const size = clamp(read.fields.limit ?? BigInt(defaultPageSize), maxPageSize)
  const page = clamp(read.fields.p, Number.MAX_SAFE_INTEGER)
  const visible = state.servers
    .rows()
    .filter(server => server.account_id === key.accountId)
    .filter(server => read.fields.include_account || server.team_id !== 0n)
  const total = Math.min(visible.length, state.freezeTotalAt ?? visible.length)
  const servers = visible.slice((page - 1) * size, page * size)
  const isNull = state.emptyAsNull && servers.length === 0
  const list = isNull ? 'null' : `[${servers.map(textOf).join(',')}]`
  return { ok: true, data: [new Payload(`{"total":${total},"servers":${list}}`)] }
}

/** A server that changes becomes another object. */
const TEXTS = new WeakMap<McpServer, string>()

/** The server's JSON, made once. */
function textOf(server: McpServer): string {
  const text = TEXTS.get(server) ?? wireJson(server)
  TEXTS.set(server, text)
  return text
}

function clamp(value: bigint, max: number): number {
  return value < 1n ? 1 : value > BigInt(max) ? max : Number(value)
}
