import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'
import { FiredRuleRow, type Period } from './firings.ts'

/** A row of the report `rules_noisy`. */
const NoisyRule = FiredRuleRow.extend({
  /** Episodes that began soon after the one before had ended. */
  flaps: z.number(),
  /** From 0 to 1. */
  nightShare: z.number(),
  lastBegan: z.date(),
  /** How many rules fired, this one included. */
  rules: z.number(),
})
export type NoisyRule = Readonly<Omit<z.infer<typeof NoisyRule>, 'rules'>>

/** Returns the rules with the most episodes since a time, and how many others fired. */
export async function loadNoisyRules(
  reader: Pool,
  { since, account }: Period,
  maxRules: number,
): Promise<{ readonly shown: readonly NoisyRule[]; readonly rules: number }> {
  const shown = await findAll(reader, NoisyRule, NOISY_RULES, [since, account, maxRules])
  return { shown, rules: shown[0]?.rules ?? 0 }
}

const NOISY_RULES = `
  select account, id::text, name, team, episodes, hours * 3600000 as fired_for_ms, flaps, night_share,
    last_began, firing as is_firing, in_all as rules
  from ferry.rules_noisy($1, of_account => $2, at_most => $3) r
  order by r.episodes desc, r.hours desc, r.account, r.id`
