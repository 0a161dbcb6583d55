import type { ActedBy } from '#src/model/act.ts'
import { isSuspicious, type RemovalGuard } from '#src/model/removal-guard.ts'

/** What becomes of rows that are stored but were not listed. */
export type Removals =
  | { readonly kind: 'remove'; readonly ids: readonly string[] }
  /** A person decides about these. Besides them, rows are absent whose removal was rejected: the run that held it, of each. */
  | {
      readonly kind: 'hold'
      readonly ids: readonly string[]
      readonly current: number
      readonly rejected: readonly string[]
    }
  | {
      readonly kind: 'keep'
      readonly absent: number
      readonly because: 'rejected' | 'new scope' | 'held in another scope'
    }
  /** The listing is not complete, so nothing follows from what it lacks. */
  | { readonly kind: 'partial'; readonly why: string }

/** How freely a run may remove: within the guard, whatever it finds absent, or only what a person approved. */
export type RemovalPolicy =
  | { readonly kind: 'guarded'; readonly guard: RemovalGuard }
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'approved'
      readonly ids: ReadonlySet<string>
      /** The run that held them, and who approved it. */
      readonly heldBy: bigint
      readonly by: ActedBy
    }

/** The rows a listing lacks, of those that are current within its scope. */
export type Absence = { readonly absent: readonly string[]; readonly current: number }

/** What earlier runs and people have said, as far as removals depend on it. */
export type Evidence = {
  /** Whether the last complete listing was applied in this scope, but for its folders; of an approval, whether the rows were held in it. */
  readonly isScopeKnown: boolean
  /** The ids whose removal a person rejected, each with the run that held it. */
  readonly rejected: ReadonlyMap<string, string>
  /** The ids whose removal was held, and waits for a person. */
  readonly waiting: ReadonlySet<string>
}

/** Nothing is absent, so nothing depends on it. */
export const NO_EVIDENCE: Evidence = { isScopeKnown: true, rejected: new Map(), waiting: new Set() }

/**
 * Decides about the rows that a listing lacks. `incomplete` says why the listing is not complete; null if it is.
 *
 * While a row is absent whose removal a person rejected, the listing is known to be wrong, so whatever else is absent is
 * held. So is whatever is absent while a row is that was held: only a person lets it go, however few are absent by now.
 */
export function decideRemovals(
  incomplete: string | null,
  { absent, current }: Absence,
  policy: RemovalPolicy,
  { isScopeKnown, rejected, waiting }: Evidence,
): Removals {
  if (incomplete !== null) return { kind: 'partial', why: incomplete }
  if (absent.length === 0) return { kind: 'remove', ids: [] }
  if (!isScopeKnown) {
    const because = policy.kind === 'approved' ? 'held in another scope' : 'new scope'
    return { kind: 'keep', absent: absent.length, because }
  }
  if (policy.kind === 'approved') return { kind: 'remove', ids: absent.filter(id => policy.ids.has(id)) }
  if (policy.kind === 'accepted') return { kind: 'remove', ids: absent }

  const before = absent.flatMap(id => rejected.get(id) ?? [])
  if (before.length === absent.length) return { kind: 'keep', absent: absent.length, because: 'rejected' }
  const asks = before.length > 0 || absent.some(id => waiting.has(id))
  return asks || isSuspicious(absent.length, current, policy.guard)
    ? { kind: 'hold', ids: absent.filter(id => !rejected.has(id)), current, rejected: before }
    : { kind: 'remove', ids: absent }
}

/** Whether a second listing must confirm that rows are absent: only what stays needs no confirmation. */
export function needsSecondListing(removals: Removals, { absent }: Pick<Absence, 'absent'>): boolean {
  return absent.length > 0 && (removals.kind === 'remove' || removals.kind === 'hold')
}
