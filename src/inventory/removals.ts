import { isSuspicious, type RemovalGuard } from '#src/model/removal-guard.ts'

/** What becomes of rows that are stored but were not listed. */
export type Removals =
  | { readonly kind: 'remove'; readonly ids: readonly string[] }
  | { readonly kind: 'hold'; readonly ids: readonly string[]; readonly why: string }
  | { readonly kind: 'keep'; readonly partial: boolean; readonly why: string }

/** How freely a run may remove: guarded, as a person allowed it for this run, or only what a person approved. */
export type RemovalPolicy =
  | { readonly kind: 'guarded'; readonly guard: RemovalGuard }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'approved'; readonly ids: ReadonlySet<string> }

/** Decides about rows that two complete listings agree are absent. */
export function decideRemovals(absent: readonly string[], current: number, policy: RemovalPolicy): Removals {
  switch (policy.kind) {
    case 'accepted':
      return { kind: 'remove', ids: absent }
    case 'approved':
      return { kind: 'remove', ids: absent.filter(id => policy.ids.has(id)) }
    case 'guarded':
      return isSuspicious(absent.length, current, policy.guard)
        ? { kind: 'hold', ids: absent, why: `${absent.length} of ${current} rows are gone from the listing` }
        : { kind: 'remove', ids: absent }
  }
}
