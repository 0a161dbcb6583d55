import { z } from 'zod'
import { ACCOUNT_OF_PAGE, list, partOf } from '#src/db/list.ts'
import { findOne } from '#src/db/rows.ts'

/** The reasons of the view `ferry.mcp_risk`, the graver first. */
export const RISK_REASONS = [
  'invisible characters',
  'no https',
  'tool deletes',
  'tool writes',
  'tool count differs',
  'shared credentials',
  'name used twice',
  'tool name used twice',
  'disabled but listed',
] as const
export type RiskReason = (typeof RISK_REASONS)[number]

/** What could be a risk in a server, and why. */
const Risk = z.object({
  account: z.string(),
  id: z.string(),
  server: z.string().nullable(),
  team: z.string().nullable(),
  reason: z.string(),
  /** Null unless the reason is about one tool. */
  tool: z.string().nullable(),
  detail: z.string().nullable(),
})
export type Risk = Readonly<z.infer<typeof Risk>>

const Risks = z.object({
  counts: z.record(z.string(), z.number()).nullable(),
  risks: z.array(Risk).nullable(),
})

/** Texts are cut, so that the place of a row fits into an address. */
const MAX_TEXT = 500

/**
 * What could be a risk in the current servers, by server, and how many risks there are of each reason, whatever reason is
 * asked for. Of equal rows (a tool that is listed twice) those that begin the next page are left out.
 */
export const RISKS = list({
  caption: 'Possible risks by server',
  filters: {
    account: ACCOUNT_OF_PAGE,
    reason: { kind: 'choice', values: RISK_REASONS, label: 'Reason' },
  },
  order: ['text', 'text', 'text', 'text', 'text', 'text'],
  async load(pool, { filter: { account, reason }, after, limit }) {
    const found = await findOne(
      pool,
      Risks,
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
      [account ?? null, reason ?? null, ...(after ?? Array.from({ length: 6 }, () => null)), limit + 1],
    )
    const placeOf = ({ server, account, id, reason, tool, detail }: Risk) =>
      [server ?? '', account, id, reason, tool ?? '', detail ?? ''] as const
    const counts = new Map(Object.entries(found.counts ?? {}))
    return { ...partOf(found.risks ?? [], limit, placeOf), counts }
  },
  columns: (risk: Risk) => ({
    server: risk.server,
    id: risk.id,
    account: risk.account,
    team: risk.team,
    reason: risk.reason,
    tool: risk.tool,
    found: risk.detail,
  }),
  none: 'Nothing was found that could be a risk.',
})
