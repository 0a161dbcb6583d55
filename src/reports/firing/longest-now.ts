import type { Pool } from 'pg'

/** A rule that fires now, and since when. */
export type FiringRule = {
  readonly account: string
  readonly id: string
  /** Null if it was removed meanwhile. */
  readonly name: string | null
  readonly began: Date
  readonly firingForMs: number
}

/** Returns the rules that have been firing longest. */
export async function loadLongestFiring(
  reader: Pool,
  account: string | null,
  maxRules: number,
): Promise<FiringRule[]> {
  const { rows } = await reader.query<FiringRule>(LONGEST_FIRING, [account, maxRules])
  return rows
}

const LONGEST_FIRING = `
  select account, id::text, name, began, (extract(epoch from firing_for) * 1000)::float8 as "firingForMs"
  from ferry.alert_rules_firing where account = coalesce($1, account)
  order by began, account, id limit $2`
