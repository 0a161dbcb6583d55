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

/**
 * Decides about rows that two complete listings agree are absent. `rejected` are those of which a person said that they
 * are not gone, with the run that held them: while any of them is absent the listing is known to be wrong, so whatever
 * else is absent is held too.
 */
export function decideRemovals(
  absent: readonly string[],
  current: number,
  policy: RemovalPolicy,
  rejected: ReadonlyMap<string, string>,
): Removals {
  switch (policy.kind) {
    case 'accepted':
      return { kind: 'remove', ids: absent }
    case 'approved':
      return { kind: 'remove', ids: absent.filter(id => policy.ids.has(id)) }
    case 'guarded':
      if (isRejected(absent, rejected)) return keptAsRejected(absent)
      return isSuspicious(absent.length, current, policy.guard) || absent.some(id => rejected.has(id))
        ? { kind: 'hold', ids: absent, why: whyHeld(absent, current, rejected) }
        : { kind: 'remove', ids: absent }
  }
}

function whyHeld(absent: readonly string[], current: number, rejected: ReadonlyMap<string, string>): string {
  const saidNotGone = absent.filter(id => rejected.has(id))
  const why = `${absent.length} of ${current} rows are gone from the listing`
  if (saidNotGone.length === 0) return why
  const runs = [...new Set(saidNotGone.map(id => rejected.get(id)))].join(', ')
  return `${why}, ${saidNotGone.length} of which were said not to be gone (run ${runs})`
}

/** Whether a person has said of every absent row that it is not gone. */
export function isRejected(absent: readonly string[], rejected: ReadonlyMap<string, string>): boolean {
  return absent.length > 0 && absent.every(id => rejected.has(id))
}

export function keptAsRejected(absent: readonly string[]): Removals {
  const rows = absent.length === 1 ? 'one row is' : `${absent.length} rows are`
  return {
    kind: 'keep',
    partial: false,
    why: `${rows} not listed and kept, because their removal was rejected; \`--accept-removals\` would remove them`,
  }
}
