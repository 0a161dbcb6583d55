import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'

/** A tool that a server gained, lost or described otherwise. */
const ToolChange = z.object({
  /** Of the servers that were asked for, the place of this one. */
  nth: z.number(),
  change: z.enum(['added', 'removed', 'description changed']),
  tool: z.string().nullable(),
  before: z.string().nullable(),
  after: z.string().nullable(),
})
export type ToolChange = Readonly<Omit<z.infer<typeof ToolChange>, 'nth'>>

const Version = z.object({
  account: z.string(),
  id: z.string(),
  server: z.string().nullable(),
  at: z.date(),
  /** The same to the microsecond, as text. */
  exactly: z.string(),
  run: z.string(),
})

/** What one run found changed in the tools of one server. `tools` is empty if only their order changed. */
export type ServerChange = Readonly<z.infer<typeof Version>> & { readonly tools: readonly ToolChange[] }

export type ChangeFilter = {
  readonly account?: string | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
}

/** The time, account and id of the last server of a page. */
export type ChangePlace = readonly [exactly: string, account: string, id: string]

/** Returns servers whose tools changed, the newest first, at most `limit`. */
export async function listToolChanges(
  pool: Pool,
  limit: number,
  { account, since, until }: ChangeFilter,
  after: ChangePlace | null,
): Promise<ServerChange[]> {
  const versions = await findAll(
    pool,
    Version,
    `select v.account, v.server_id as id, v.server_name as server, v.valid_from as at,
       to_json(v.valid_from) #>> '{}' as exactly, v.opened_by_run as run
     from ferry.mcp_server_versions v
     cross join lateral (
       select p.tools from ferry.mcp_server_versions p
       where p.server_id = v.server_id and p.account = v.account and p.valid_from < v.valid_from and jsonb_typeof(p.tools) = 'array'
       order by p.valid_from desc limit 1
     ) p
     where jsonb_typeof(v.tools) = 'array' and v.tools <> p.tools and ($1::text is null or v.account = $1)
       and v.valid_from >= coalesce($2::timestamptz, '-infinity') and v.valid_from < coalesce($3::timestamptz, 'infinity')
       and v.valid_from <= coalesce($4::timestamptz, 'infinity')
       and ($4::timestamptz is null or (v.valid_from, v.account, v.server_id) < ($4, $5::text, $6::text))
     order by v.valid_from desc, v.account desc, v.server_id desc limit $7`,
    [account ?? null, since ?? null, until ?? null, ...(after ?? [null, null, null]), limit],
  )
  const [newest, oldest] = [versions.at(0), versions.at(-1)]
  if (!newest || !oldest) return []
  const rows = await findAll(
    pool,
    ToolChange,
    `select s.nth::int as nth, c.change, c.tool, c.before, c.after
     from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality as s (account, id, at, nth)
     join ferry.mcp_tool_changes($4, $5) c on c.account = s.account and c.server_id = s.id and c.observed_at = s.at
     order by s.nth, c.tool, c.change`,
    [
      versions.map(version => version.account),
      versions.map(version => version.id),
      versions.map(version => version.exactly),
      oldest.exactly,
      newest.exactly,
    ],
  )
  const changes = Map.groupBy(rows, ({ nth }) => nth)
  return versions.map((version, n) => ({ ...version, tools: changes.get(n + 1) ?? [] }))
}
