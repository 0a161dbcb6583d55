import type { Pool } from 'pg'
import { z } from 'zod'
import { and, desc, drizzleOf, eq, isNotNull, sql } from '#src/db/drizzle.ts'
import type { NewRun } from '#src/inventory/runs/ledger.ts'
import { syncRuns } from '#src/inventory/schema.ts'
import { hadScope, ofInventory } from '#src/inventory/scope.ts'
import type { AppliedRun } from './known-rows.ts'

/** What the last applied run found. Data with the same hashes is the same data. */
export type TrustedData = {
  /** Null if no run was applied. */
  readonly run: AppliedRun | null
  /** Empty if this run may not rely on them. */
  readonly hashes: readonly string[]
  readonly seen: number
  readonly quarantined: number
  readonly message: string | null
}

const Hashes = z.array(z.string())

const NONE: TrustedData = { run: null, hashes: [], seen: 0, quarantined: 0, message: null }

/** Its hashes count only if that run succeeded and had the same scope, guard and fingerprint version as `run`. */
export async function loadTrustedData(pool: Pool, run: NewRun): Promise<TrustedData> {
  const isComparable = and(
    eq(syncRuns.status, 'succeeded'),
    hadScope(run.scope),
    eq(syncRuns.guard, run.guard),
    eq(syncRuns.fingerprint_version, run.fingerprintVersion),
  )
  const { id, applied_at, seen, quarantined, message, data_hashes } = syncRuns
  const [last] = await drizzleOf(pool)
    .select({
      id,
      appliedAt: sql`${applied_at}::text`.mapWith(z.string().parse),
      seen,
      quarantined,
      message,
      hashes: sql`coalesce(case when ${isComparable} then ${data_hashes} end, '{}')`.mapWith(Hashes.parse),
    })
    .from(syncRuns)
    .where(and(ofInventory(syncRuns, run), isNotNull(syncRuns.applied_at)))
    .orderBy(desc(syncRuns.id))
    .limit(1)
  if (!last) return NONE
  const { appliedAt, ...found } = last
  return { ...found, run: { id: last.id, appliedAt } }
}
