import type { Pool, PoolClient } from 'pg'
import { type LockedHold, loadWaitingIds, lockOpenHold } from '#src/inventory/holds/holds.ts'
import { loadRejectedIds } from '#src/inventory/holds/rejected-rows.ts'
import { isScopeKnown, isScopeOf, type Scope } from '#src/inventory/scope.ts'
import type { Inventory } from '#src/model/resource.ts'
import { type Absence, type Evidence, NO_EVIDENCE } from './decide.ts'

type Scoped = Inventory & { readonly scope: Scope }

/** What earlier runs and people said of the rows that are absent now. */
export async function loadEvidence(
  client: Pool | PoolClient,
  run: Scoped,
  { absent }: Pick<Absence, 'absent'>,
): Promise<Evidence> {
  if (absent.length === 0) return NO_EVIDENCE
  return {
    isScopeKnown: await isScopeKnown(client, run),
    rejected: await loadRejectedIds(client, run),
    waiting: await loadWaitingIds(client, run),
  }
}

/**
 * The same, to publish by: until the transaction ends, nobody can decide about the open hold. An approval, which has locked its hold
 * `held`, depends on one thing alone: in another scope than that of the last run that held the rows, other rows may be seen.
 */
export async function loadFinalEvidence(
  client: PoolClient,
  run: Scoped,
  absence: Pick<Absence, 'absent'>,
  held: LockedHold | null,
): Promise<Evidence> {
  if (absence.absent.length === 0) return NO_EVIDENCE
  if (held) return { ...NO_EVIDENCE, isScopeKnown: await isScopeOf(client, held.lastRun, run.scope) }
  await lockOpenHold(client, run)
  return loadEvidence(client, run, absence)
}
