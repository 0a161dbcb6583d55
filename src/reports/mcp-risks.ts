import type { Pool } from 'pg'
import { z } from 'zod'
import { ACCOUNT_OF_PAGE, list, partOf } from '#src/db/list.ts'
import { findAll, findOne } from '#src/db/rows.ts'

/** How grave a reason is; the view `ferry.mcp_risk` decides it. The gravest first. */
const SEVERITIES = ['high', 'medium', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]

/** The reasons of that view, the graver first. */
export const RISK_REASONS = [
  'invisible characters',
  'no https',
  'tool deletes',
  'tool writes',
  'tool count differs',
  'name used twice',
  'tool name used twice',
  'shared credentials',
  'disabled but listed',
] as const
export type RiskReason = (typeof RISK_REASONS)[number]

/** What could be a risk in a server, and why. */
const Risk = z.object({
  account: z.string(),
  id: z.string(),
  server: z.string().nullable(),
  team: z.string().nullable(),
  severity: z.enum(SEVERITIES),
  reason: z.string(),
  /** Null unless the reason is about one tool. */
  tool: z.string().nullable(),
  detail: z.string().nullable(),
})
export type Risk = Readonly<z.infer<typeof Risk>>

/** How many risks there are of a reason. */
const OfReason = z.object({ reason: z.enum(RISK_REASONS), severity: z.enum(SEVERITIES), risks: z.number() })
export type OfReason = Readonly<z.infer<typeof OfReason>>

/** Returns the reasons why a server could be a risk, the gravest first. */
export function listRisksOfServer(pool: Pool, account: string, id: string): Promise<OfReason[]> {
  return findAll(
    pool,
    OfReason,
    `select reason, severity, count(*)::int as risks from ferry.mcp_risk where account = $1 and server_id = $2
     group by reason, severity order by array_position($3::text[], severity), reason`,
    [account, id, SEVERITIES],
  )
}

const Risks = z.object({
  reasons: z.array(OfReason).nullable(),
  risks: z.array(Risk).nullable(),
})

/** Texts are cut, so that the place of a row fits into an address. */
const MAX_TEXT = 500

/**
 * What could be a risk in the current servers, the gravest first, then by server, and how many risks there are of each reason, whatever reason is
 * asked for. Of equal rows (a tool that is listed twice) those that begin the next page are left out.
 */
export const RISKS = list({
  caption: 'Possible risks, the gravest first',
  filters: {
    account: ACCOUNT_OF_PAGE,
    reason: { kind: 'choice', values: RISK_REASONS, label: 'Reason' },
  },
  order: ['count', 'text', 'text', 'text', 'text', 'text', 'text'],
  async load(pool, { filter: { account, reason }, after, limit }) {
    const found = await findOne(
      pool,
      Risks,
      `with risks as materialized (
         select account, server_id, coalesce(server_name, '') as name, server_name, team_id, severity, reason,
           array_position($10::text[], severity) as grade, coalesce(tool, '') as tool_name, tool, coalesce(detail, '') as found, detail
         from (
           select account, server_id, left(server_name, ${MAX_TEXT}) as server_name, team_id, severity, reason,
             left(tool, ${MAX_TEXT}) as tool, left(detail, ${MAX_TEXT}) as detail from ferry.mcp_risk
         ) r where $1::text is null or account = $1
       )
       select
         (select json_agg(c) from (
            select reason, severity, count(*)::int as risks from risks group by grade, reason, severity order by grade, risks desc, reason) c) as reasons,
         (select json_agg(r) from (
            select account, server_id as id, server_name as server, team_id::text as team, severity, reason, tool, detail from risks
            where ($2::text is null or reason = $2)
              and ($3::int is null
                or (grade, name, account, server_id, reason, tool_name, found)
                  > ($3, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text))
            order by grade, name, account, server_id, reason, tool_name, found limit $11) r) as risks`,
      [
        account ?? null,
        reason ?? null,
        ...(after ?? Array.from({ length: 7 }, () => null)),
        SEVERITIES,
        limit + 1,
      ],
    )
    const placeOf = ({ severity, server, account, id, reason, tool, detail }: Risk) =>
      [SEVERITIES.indexOf(severity) + 1, server ?? '', account, id, reason, tool ?? '', detail ?? ''] as const
    return { ...partOf(found.risks ?? [], limit, placeOf), reasons: found.reasons ?? [] }
  },
  columns: {
    server: risk => risk.server,
    id: risk => risk.id,
    account: risk => risk.account,
    team: risk => risk.team,
    severity: risk => risk.severity,
    reason: risk => risk.reason,
    tool: risk => risk.tool,
    found: risk => risk.detail,
  },
  none: 'Nothing was found that could be a risk.',
})
