import { z } from 'zod'
import { ACCOUNT_OF_PAGE, list, partOf } from '#src/db/list.ts'
import { findAll } from '#src/db/rows.ts'

/** Names are cut, so that the place of a row fits into an address; so are descriptions, of which a page shows the beginning. */
const MAX_NAME = 500
const MAX_DESCRIPTION = 2_000

/** A tool of a current server, as that server describes it. */
const ListedTool = z.object({
  account: z.string(),
  id: z.string(),
  server: z.string().nullable(),
  position: z.string(),
  tool: z.string().nullable(),
  description: z.string().nullable(),
})
export type ListedTool = Readonly<z.infer<typeof ListedTool>>

/** The tools of the current servers by their name. */
export const TOOLS = list({
  caption: 'Tools by name',
  filters: {
    account: ACCOUNT_OF_PAGE,
    text: { kind: 'text', label: 'Name or description', hint: 'a part of it', max: 1_000 },
  },
  order: ['text', 'text', 'text', 'id'],
  async load(pool, { filter: { account, text }, after, limit }) {
    const rows = await findAll(
      pool,
      ListedTool,
      `select account, server_id as id, left(server_name, ${MAX_NAME}) as server, position, left(name, ${MAX_NAME}) as tool, left(description, ${MAX_DESCRIPTION}) as description
       from ferry.mcp_server_tools
       where ($1::text is null or account = $1)
         and ($2::text is null or strpos(lower(concat_ws(' ', name, description)), lower($2)) > 0)
         and ($3::text is null or (left(coalesce(name, ''), ${MAX_NAME}), account, server_id, position) > ($3, $4::text, $5::text, $6::bigint))
       order by left(coalesce(name, ''), ${MAX_NAME}), account, server_id, position limit $7`,
      [account ?? null, text ?? null, ...(after ?? [null, null, null, null]), limit + 1],
    )
    return partOf(rows, limit, ({ tool, account, id, position }) => [tool ?? '', account, id, position])
  },
  columns: {
    tool: row => row.tool,
    server: row => row.server,
    id: row => row.id,
    account: row => row.account,
    description: row => row.description,
  },
  none: 'No tool is recorded. A server lists its tools once somebody has connected it.',
  noneMatches: 'No tool matches.',
})

/** The servers of one team. 0 is no team: servers of the whole account. */
const TeamRow = z.object({
  account: z.string(),
  team: z.string().nullable(),
  servers: z.number(),
  enabled: z.number(),
  tools: z.number(),
  shared: z.number(),
  lastChange: z.date(),
})
export type TeamRow = Readonly<z.infer<typeof TeamRow>>

/** The teams that own servers, those with the most first. */
export const TEAMS = list({
  caption: 'Teams, those with the most servers first',
  filters: {},
  order: ['count', 'text', 'number'],
  async load(pool, { after, limit }) {
    const rows = await findAll(
      pool,
      TeamRow,
      `select account, team_id::text as team, servers, enabled, tools, shared, last_change
       from ferry.mcp_by_team
       where $1::int is null or (-servers, account, coalesce(team_id, -1)) > (-$1, $2::text, $3::numeric)
       order by -servers, account, coalesce(team_id, -1) limit $4`,
      [...(after ?? [null, null, null]), limit + 1],
    )
    return partOf(rows, limit, ({ servers, account, team }) => [servers, account, team ?? '-1'])
  },
  columns: {
    team: row => row.team,
    account: row => row.account,
    servers: row => row.servers,
    enabled: row => row.enabled,
    tools: row => row.tools,
    'shared sign-in': row => row.shared,
    'last change': row => row.lastChange,
  },
  none: 'No MCP server is known. `ferry sync mcp-servers` reads them from the platform.',
  noneMatches: 'No other team owns a server.',
})
