import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'
import { FiredRuleRow, type Period } from './firings.ts'

const Change = z.enum(['added', 'changed', 'removed', 'returned'])

/** What happened to a rule, as far as its bar is marked with it. */
export type RuleEvent = {
  readonly at: Date
  readonly change: z.infer<typeof Change>
  /** The new value if the change enabled or disabled the rule; null otherwise. */
  readonly enabled: boolean | null
  /** Null for a removal: the platform does not say who. */
  readonly by: string | null
}

/** A rule that fired in a period. */
export type FiredRule = Readonly<z.infer<typeof FiredRuleRow>> & {
  /** Its episodes by time; those that begin within one five-hundredth of the period are one. `to` is null if it fires now. */
  readonly bars: readonly { readonly from: Date; readonly to: Date | null }[]
  /** The last fifty, by time. */
  readonly events: readonly RuleEvent[]
}

export type FiredRules = {
  /** Those that fired longest, the first one longest of all. */
  readonly shown: readonly FiredRule[]
  /** How many fired in all. */
  readonly rules: number
  readonly episodes: number
  readonly firing: number
}

/** A rule that fired, and what is the same for all of them: how many fired. */
const FiredRow = FiredRuleRow.extend({
  bars: z.array(z.tuple([z.number(), z.number().nullable()])),
  events: z.array(z.tuple([z.number(), Change, z.boolean().nullable(), z.string().nullable()])).nullable(),
  rules: z.number(),
  allEpisodes: z.number(),
  allFiring: z.number(),
})

const BARS = 500

/** Returns the rules that fired longest in a period with their episodes and changes, and how many others fired. */
export async function loadFiredRules(
  reader: Pool,
  { since, until, account }: Period,
  maxRules: number,
): Promise<FiredRules> {
  const barSeconds = Math.max(1, (until.getTime() - since.getTime()) / 1_000 / BARS)
  const rows = await findAll(reader, FiredRow, FIRED_RULES, [since, until, account, maxRules, barSeconds])
  const [first] = rows
  return {
    shown: rows.map(({ rules: _rules, allEpisodes: _episodes, allFiring: _firing, ...row }) => ({
      ...row,
      bars: row.bars.map(([from, to]) => ({ from: new Date(from), to: to === null ? null : new Date(to) })),
      events: (row.events ?? []).map(([at, change, enabled, by]) => ({
        at: new Date(at),
        change,
        enabled,
        by,
      })),
    })),
    rules: first?.rules ?? 0,
    episodes: first?.allEpisodes ?? 0,
    firing: first?.allFiring ?? 0,
  }
}

/** Episodes are added as intervals: as numbers of seconds they would take three times as long. */
const FIRED_RULES = `
  with episodes as materialized (
    select f.account, f.id, f.began, f.ended from ferry.alert_rule_firings f
    where f.ended > $1 and f.ended < 'infinity' and f.began < $2 and f.account = coalesce($3, f.account)
    union all
    select f.account, f.id, f.began, null from ferry.alert_rule_firings f
    where f.ended is null and f.began < $2 and f.account = coalesce($3, f.account)
  ), counted as materialized (
    select e.account, e.id, count(*) as episodes, bool_or(e.ended is null) as firing,
      sum(least(coalesce(e.ended, $2), $2) - greatest(e.began, $1)) as fired_for
    from episodes e group by e.account, e.id
  ), shown as materialized (
    select * from counted order by fired_for desc, account, id limit $4
  ), bars as (
    select b.account, b.id, json_agg(json_build_array(b.began_ms, b.ended_ms) order by b.began_ms) as bars
    from (
      select e.account, e.id, round(extract(epoch from min(greatest(e.began, $1))) * 1000)::float8 as began_ms,
        case when bool_or(e.ended is null) then null else round(extract(epoch from max(e.ended)) * 1000)::float8 end as ended_ms
      from episodes e join shown s on s.id = e.id and s.account = e.account
      group by e.account, e.id, date_bin($5 * interval '1 s', greatest(e.began, $1), $1)
    ) b
    group by b.account, b.id
  )
  select s.account, s.id::text, v.name, v.team, s.episodes::int, (extract(epoch from s.fired_for) * 1000)::float8 as fired_for_ms,
    s.firing as is_firing, b.bars, c.events, t.rules, t.episodes as all_episodes, t.firing as all_firing
  from shown s
  join bars b on b.id = s.id and b.account = s.account
  cross join (
    select count(*)::int as rules, sum(episodes)::int as episodes, count(*) filter (where firing)::int as firing from counted
  ) t
  cross join lateral (
    select v.name, v.team from ferry.alert_rule_versions v
    where v.id = s.id and v.account = s.account order by v.valid_from desc limit 1
  ) v
  cross join lateral (
    select json_agg(json_build_array(round(extract(epoch from c.observed_at) * 1000)::float8, c.change,
      c.after -> 'enabled', c.updater_name) order by c.observed_at) as events
    from (
      select * from ferry.alert_rule_changes c
      where c.id = s.id and c.account = s.account and c.observed_at >= $1 and c.observed_at < $2
        and not c.first_reading
      order by c.observed_at desc limit 50
    ) c
  ) c
  order by s.fired_for desc, s.account, s.id`

/** A rule that fires now, and since when. */
const FiringRule = z.object({
  account: z.string(),
  id: z.string(),
  /** Null if the rule has been removed since. */
  name: z.string().nullable(),
  began: z.date(),
  firingForMs: z.number(),
})
export type FiringRule = Readonly<z.infer<typeof FiringRule>>

/** Returns the rules that have been firing longest. */
export function loadLongestFiring(
  reader: Pool,
  account: string | null,
  maxRules: number,
): Promise<FiringRule[]> {
  return findAll(reader, FiringRule, LONGEST_FIRING, [account, maxRules])
}

const LONGEST_FIRING = `
  select account, id::text, name, began, (extract(epoch from firing_for) * 1000)::float8 as firing_for_ms
  from ferry.alert_rules_firing where account = coalesce($1, account)
  order by began, account, id limit $2`
