import type { Pool } from 'pg'
import { type Part, partOf } from '#src/db/list.ts'
import { keyInstant, namedRowsOf } from '#src/db/rows.ts'
import { type InventoryFilter, type InventoryPlace, PagedRow, selected } from './list-inventory.ts'
import { isAfter, type Key, orderOf, paramsInto, type SERVER_SORTS, type Sort } from './list-order.ts'

type ServerSort = (typeof SERVER_SORTS)[number]

/** Names are cut, so that the place of a row fits into an address. */
const MAX_NAME = 500

const NAME: Key = [`left(lower(coalesce(k.server_name, '')), ${MAX_NAME})`, 'text', 0]
const ACCOUNT: Key = ['k.account', 'text', 1]
const ID: Key = ['k.server_id', 'text', 2]

const BY: Readonly<Record<ServerSort, Sort>> = {
  name: { keys: [NAME, ACCOUNT, ID] },
  team: { keys: [['coalesce(k.team_id, -1)', 'numeric', 3], NAME, ACCOUNT, ID] },
  updated: { keys: [['k.valid_from', 'timestamptz', 4], ACCOUNT, ID], isDown: true },
}

/** Returns at most `limit` MCP servers after a place, as they are or were at a moment, with how many tools each has. */
export async function loadServerPage(
  pool: Pool,
  filter: InventoryFilter & { readonly sort?: ServerSort | undefined },
  after: InventoryPlace | null,
  limit: number,
): Promise<Part<PagedRow, InventoryPlace>> {
  const { from, params } = selected('mcp-servers', filter)
  const param = paramsInto(params)
  const sort = BY[filter.sort ?? 'name']
  const sql = `
    select k.account, k.server_id, left(k.server_name, ${MAX_NAME}) as server_name, k.team_id, k.status, k.transport, k.auth_mode,
      k.valid_from, k.recorded as tools,
      jsonb_build_array(${NAME[0]}, k.account, k.server_id, coalesce(k.team_id, -1)::text, ${keyInstant('k.valid_from')}) as place
    from (
      select v.*, case when jsonb_typeof(v.tools) = 'array' then jsonb_array_length(v.tools) end as recorded ${from}
    ) k
    where ${isAfter(sort, after, param)} order by ${orderOf(sort)} limit ${param(limit + 1, 'int')}`
  const rows = namedRowsOf(PagedRow, await pool.query(sql, params))
  return partOf(rows, limit, ({ place }) => place)
}
