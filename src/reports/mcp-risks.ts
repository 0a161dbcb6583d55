import type { Pool } from 'pg'

/** The reasons of the view `ferry.mcp_risk`, the graver first. */
export const RISK_REASONS = [
  'invisible characters',
  'no https',
  'tool deletes',
  'tool writes',
  'shared credentials',
  'name used twice',
  'tool name used twice',
  'disabled but listed',
] as const
export type RiskReason = (typeof RISK_REASONS)[number]

/** What could be a risk in a server, and why. */
export type Risk = {
  readonly account: string
  readonly id: string
  readonly server: string | null
  readonly team: string | null
  readonly reason: string
  /** Null unless the reason is about one tool. */
  readonly tool: string | null
  readonly detail: string | null
}

export type RiskFilter = { readonly account?: string | undefined; readonly reason?: RiskReason | undefined }

/** The server's name (empty if it has none), account, server's id, reason, tool (empty if none) and detail of the last row. */
export type RiskPlace = readonly [
  server: string,
  account: string,
  id: string,
  reason: string,
  tool: string,
  detail: string,
]

export type RiskPage = {
  readonly risks: readonly Risk[]
  /** How many there are of each reason, in all accounts or the one that was asked for. */
  readonly counts: ReadonlyMap<string, number>
}

/** Texts are cut, so that the place of a row fits into an address. */
const MAX_TEXT = 500

/**
 * Returns the risks by server, at most `limit`, and how many there are of each reason. Of equal rows (a tool that is listed
 * twice) those that begin the next page are left out.
 */
export async function listRisks(
  pool: Pool,
  limit: number,
  { account, reason }: RiskFilter,
  after: RiskPlace | null,
): Promise<RiskPage> {
  const { rows } = await pool.query<{ counts: Record<string, number> | null; risks: Risk[] | null }>(
    `with risks as materialized (
       select account, server_id, coalesce(server_name, '') as name, server_name, team_id, reason,
         coalesce(tool, '') as tool_name, tool, coalesce(detail, '') as found, detail
       from (
         select account, server_id, left(server_name, ${MAX_TEXT}) as server_name, team_id, reason,
           left(tool, ${MAX_TEXT}) as tool, left(detail, ${MAX_TEXT}) as detail from ferry.mcp_risk
       ) r where $1::text is null or account = $1
     )
     select
       (select json_object_agg(reason, n) from (select reason, count(*) as n from risks group by reason) c) as counts,
       (select json_agg(r) from (
          select account, server_id as id, server_name as server, team_id::text as team, reason, tool, detail from risks
          where ($2::text is null or reason = $2)
            and ($3::text is null
              or (name, account, server_id, reason, tool_name, found) > ($3, $4::text, $5::text, $6::text, $7::text, $8::text))
          order by name, account, server_id, reason, tool_name, found limit $9) r) as risks`,
    [account ?? null, reason ?? null, ...(after ?? Array.from({ length: 6 }, () => null)), limit],
  )
  const [found] = rows
  return { risks: found?.risks ?? [], counts: new Map(Object.entries(found?.counts ?? {})) }
}
