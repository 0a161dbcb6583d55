import type { Pool, PoolClient } from 'pg'
import { type LockedHold, loadLeftIds, lockOpenHold } from '#src/inventory/holds/holds.ts'
import { loadRejectedIds } from '#src/inventory/holds/rejected-rows.ts'
import { isScopeKnown, isScopeOf, type Scope } from '#src/inventory/scope.ts'
import type { Inventory } from '#src/model/resource.ts'
import { type Absence, type Evidence, NO_EVIDENCE } from './decide.ts'

type Scoped = Inventory & { readonly scope: Scope }

/** What earlier runs and people said of the rows that are absent now. */
export async function loadEvidence(
  client: Pool | PoolClient,
  { account, resource, scope }: Scoped,
  { absent }: Pick<Absence, 'absent'>,
): Promise<Evidence> {
  if (absent.length === 0) return NO_EVIDENCE
  const inventory = { account, resource }
  return {
    isScopeKnown: await isScopeKnown(client, { ...inventory, scope }),
    rejected: await loadRejectedIds(client, inventory),
    left: await loadLeftIds(client, inventory),
  }
}

/**
 * The same, to publish by: until the transaction ends, nobody can decide about the open hold. What a person approved was held in the
 * scope of its last run, `held`: in another, other rows may be seen.
 */
export async function loadFinalEvidence(
  client: PoolClient,
  run: Scoped,
  absence: Pick<Absence, 'absent'>,
  held: LockedHold | null,
): Promise<Evidence> {
  if (absence.absent.length === 0) return NO_EVIDENCE
  if (held === null) await lockOpenHold(client, run)
  const evidence = await loadEvidence(client, run, absence)
  return held ? { ...evidence, isScopeKnown: await isScopeOf(client, held.lastRun, run.scope) } : evidence
}
