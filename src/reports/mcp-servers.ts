import type { Pool } from 'pg'

/** A current MCP server. Ids are text. */
export type ListedServer = {
  readonly account: string
  readonly id: string
  readonly name: string | null
  readonly team: string | null
  readonly status: string | null
  readonly transport: string | null
  readonly auth: string | null
  readonly tools: number
  /** When it was last seen to be added or changed. */
  readonly since: Date
}

export type ServerFilter = {
  readonly account?: string | undefined
  /** A part of the name, whatever its case. */
  readonly name?: string | undefined
  /** 0 for servers of the whole account. */
  readonly team?: bigint | undefined
  readonly status?: string | undefined
}

/** The name (empty if it has none), account and id of the last server of a page. */
export type ServerPlace = readonly [name: string, account: string, id: string]

/** Names are cut, so that the place of a row fits into an address; so are descriptions, of which a page shows the beginning. */
const MAX_NAME = 500
const MAX_DESCRIPTION = 2_000

/** Returns the current servers by name, at most `limit`. */
export async function listServers(
  pool: Pool,
  limit: number,
  { account, name, team, status }: ServerFilter,
  after: ServerPlace | null,
): Promise<ListedServer[]> {
  const { rows } = await pool.query<ListedServer>(
    `select account, server_id as id, left(server_name, ${MAX_NAME}) as name, team_id::text as team, status, transport, auth_mode as auth,
       case when jsonb_typeof(tools) = 'array' then jsonb_array_length(tools) else 0 end as tools, valid_from as since
     from ferry.mcp_servers
     where ($1::text is null or account = $1) and ($2::text is null or strpos(lower(server_name), lower($2)) > 0)
       and ($3::numeric is null or team_id = $3) and ($4::text is null or status = $4)
       and ($5::text is null or (left(coalesce(server_name, ''), ${MAX_NAME}), account, server_id) > ($5, $6::text, $7::text))
     order by left(coalesce(server_name, ''), ${MAX_NAME}), account, server_id limit $8`,
    [account ?? null, name ?? null, team ?? null, status ?? null, ...(after ?? [null, null, null]), limit],
  )
  return rows
}

/** A tool of a current server, as that server describes it. */
export type ListedTool = {
  readonly account: string
  readonly id: string
  readonly server: string | null
  readonly position: string
  readonly tool: string | null
  readonly description: string | null
}

export type ToolFilter = {
  readonly account?: string | undefined
  /** A part of the tool's name or description, whatever its case. */
  readonly text?: string | undefined
}

/** The tool's name (empty if it has none), account, server's id and position of the last tool of a page. */
export type ToolPlace = readonly [tool: string, account: string, id: string, position: string]

/** Returns the tools of the current servers by their name, at most `limit`: the same name at several servers stands together. */
export async function listTools(
  pool: Pool,
  limit: number,
  { account, text }: ToolFilter,
  after: ToolPlace | null,
): Promise<ListedTool[]> {
  const { rows } = await pool.query<ListedTool>(
    `select account, server_id as id, left(server_name, ${MAX_NAME}) as server, position, left(name, ${MAX_NAME}) as tool, left(description, ${MAX_DESCRIPTION}) as description
     from ferry.mcp_server_tools
     where ($1::text is null or account = $1)
       and ($2::text is null or strpos(lower(concat_ws(' ', name, description)), lower($2)) > 0)
       and ($3::text is null or (left(coalesce(name, ''), ${MAX_NAME}), account, server_id, position) > ($3, $4::text, $5::text, $6::bigint))
     order by left(coalesce(name, ''), ${MAX_NAME}), account, server_id, position limit $7`,
    [account ?? null, text ?? null, ...(after ?? [null, null, null, null]), limit],
  )
  return rows
}

/** The servers of one team. 0 is no team: servers of the whole account. */
export type TeamRow = {
  readonly account: string
  readonly team: string | null
  readonly servers: number
  readonly enabled: number
  readonly tools: number
  readonly shared: number
  readonly lastChange: Date
}

export type TeamPlace = readonly [servers: number, account: string, team: string]

/** Returns the teams with the most servers first, at most `limit`. */
export async function listTeams(pool: Pool, limit: number, after: TeamPlace | null): Promise<TeamRow[]> {
  const { rows } = await pool.query<TeamRow>(
    `select account, team_id::text as team, servers, enabled, tools, shared, last_change as "lastChange"
     from ferry.mcp_by_team
     where $1::int is null or (-servers, account, coalesce(team_id, -1)) > (-$1, $2::text, $3::numeric)
     order by -servers, account, coalesce(team_id, -1) limit $4`,
    [...(after ?? [null, null, null]), limit],
  )
  return rows
}
