import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'

/** A row of the report `rules_never_fired`. */
const SilentRule = z.object({
  account: z.string(),
  id: z.string(),
  name: z.string(),
  folder: z.string(),
  team: z.string().nullable(),
  firstSeen: z.date(),
  /** How long it was there and enabled. */
  observedMs: z.number(),
  updatedBy: z.string(),
})
export type SilentRule = Readonly<z.infer<typeof SilentRule>>

/** Returns enabled rules that were never seen firing, by id, after one of them. */
export function loadNeverFired(
  reader: Pool,
  { account, folder }: { readonly account?: string | undefined; readonly folder?: bigint | undefined },
  after: readonly [id: string, account: string] | null,
  maxRows: number,
): Promise<SilentRule[]> {
  return findAll(reader, SilentRule, NEVER_FIRED, [
    maxRows,
    account ?? null,
    folder ?? null,
    ...(after ?? [null, null]),
  ])
}

const NEVER_FIRED = `
  select account, id::text, name, folder_id::text as folder, team, first_seen, days_observed * 86400000 as observed_ms,
    updater_name as updated_by
  from ferry_internal.never_fired($1, $2, $3, $4, $5) n
  order by n.id, n.account`
