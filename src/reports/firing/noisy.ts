import type { Pool } from 'pg'
import type { Period } from './period.ts'

/** A row of the report `rules_noisy`. */
export type NoisyRule = {
  readonly account: string
  readonly id: string
  readonly name: string
  readonly team: string | null
  readonly episodes: number
  readonly firedForMs: number
  /** Episodes that began soon after the one before had ended. */
  readonly flaps: number
  /** From 0 to 1. */
  readonly nightShare: number
  readonly lastBegan: Date
  readonly isFiring: boolean
}

/** Returns the rules with the most episodes since a time, and how many others fired. */
export async function loadNoisyRules(
  reader: Pool,
  { since, account }: Period,
  maxRules: number,
): Promise<{ readonly shown: readonly NoisyRule[]; readonly rules: number }> {
  const { rows } = await reader.query<NoisyRule & { readonly rules: number }>(NOISY_RULES, [
    since,
    account,
    maxRules,
  ])
  return { shown: rows, rules: rows[0]?.rules ?? 0 }
}

const NOISY_RULES = `
  select account, id::text, name, team, episodes, hours * 3600000 as "firedForMs", flaps, night_share as "nightShare",
    last_began as "lastBegan", firing as "isFiring", in_all as rules
  from ferry.rules_noisy($1, of_account => $2, at_most => $3) r
  order by r.episodes desc, r.hours desc, r.account, r.id`
