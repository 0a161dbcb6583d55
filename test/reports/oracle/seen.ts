import type { Appearance } from '#src/inventory/states.ts'
import type { AccountHistory, Definition, Server } from './world.ts'

/* What Ferry can know of a history: the events between the moments that it saw. */

export type Version<Of> = {
  readonly account: string
  readonly id: string
  readonly fromMs: number
  readonly toMs: number | null
  readonly of: Of
  /** Whether there was another one right before it. */
  readonly follows: boolean
  readonly appeared: Appearance | null
}

export type Episode = {
  readonly account: string
  readonly id: string
  readonly fromMs: number
  readonly toMs: number | null
  readonly isBeginSeen: boolean
  readonly isRemoved: boolean
}

export type Seen = {
  readonly rules: readonly Version<Definition>[]
  readonly servers: readonly Version<Server>[]
  readonly episodes: readonly Episode[]
}

/** `fromMs` ≤ `atMs` < `toMs`. */
export const isAt = (span: { fromMs: number; toMs: number | null }, atMs: number) =>
  span.fromMs <= atMs && (span.toMs === null || span.toMs > atMs)

/** How far clocks may differ, see src/inventory/publish/appearance.ts. */
const CLOCKS_MS = 5 * 60_000

export function seenIn({ account, polls, serverPolls }: AccountHistory): Seen {
  const moments = polls.flatMap(({ atMs, rules }) => (rules ? [{ atMs, rules }] : []))
  const rules = versionsOf(
    account,
    moments.map(({ atMs, rules }) => ({
      atMs,
      rows: new Map(
        [...rules].map(([id, { definition, createdAtMs }]) => [id, { of: definition, createdAtMs }]),
      ),
    })),
  )
  const servers = versionsOf(
    account,
    serverPolls.map(({ atMs, servers }) => ({
      atMs,
      rows: new Map([...servers].map(([id, of]) => [id, { of, createdAtMs: atMs }])),
    })),
  )
  const episodes: Episode[] = []
  for (const id of new Set(moments.flatMap(({ rules }) => [...rules.keys()]))) {
    let open: Omit<Episode, 'toMs' | 'isRemoved'> | null = null
    let wasThere = false
    for (const { atMs, rules: now } of moments) {
      const rule = now.get(id)
      if (open && !rule?.isFiring) {
        episodes.push({ ...open, toMs: atMs, isRemoved: !rule })
        open = null
      }
      if (rule?.isFiring && !open) {
        const isNew = rules.some(
          one => one.id === id && one.fromMs === atMs && !one.follows && one.appeared === null,
        )
        open = { account, id, fromMs: atMs, isBeginSeen: wasThere || isNew }
      }
      wasThere = rule !== undefined
    }
    if (open) episodes.push({ ...open, toMs: null, isRemoved: false })
  }
  return { rules, servers, episodes }
}

type Moment<Of> = {
  readonly atMs: number
  readonly rows: ReadonlyMap<string, { readonly of: Of; readonly createdAtMs: number }>
}

function versionsOf<Of>(account: string, moments: readonly Moment<Of>[]): Version<Of>[] {
  const versions: Version<Of>[] = []
  for (const id of new Set(moments.flatMap(({ rows }) => [...rows.keys()]))) {
    let open: Omit<Version<Of>, 'toMs'> | null = null
    for (const [n, { atMs, rows }] of moments.entries()) {
      const row = rows.get(id)
      if (open && row && JSON.stringify(row.of) === JSON.stringify(open.of)) continue
      if (open) versions.push({ ...open, toMs: atMs })
      const follows: boolean = open !== null
      open = row
        ? {
            account,
            id,
            fromMs: atMs,
            of: row.of,
            follows,
            appeared: follows ? null : appearanceAt(row.createdAtMs),
          }
        : null
      function appearanceAt(createdAtMs: number): Appearance | null {
        const before = moments[n - 1]
        if (!before) return 'first reading'
        return createdAtMs >= before.atMs - CLOCKS_MS ? null : 'unexplained'
      }
    }
    if (open) versions.push({ ...open, toMs: null })
  }
  return versions
}

/** What is still known once what ended before `startMs` was removed. */
export function keptSince(seen: Seen, startMs: number): Seen {
  const isKept = ({ toMs }: { toMs: number | null }) => toMs === null || toMs >= startMs
  const rules = seen.rules.filter(isKept)
  const isWitnessed = ({ account, id, fromMs }: Episode) =>
    rules.some(one => one.account === account && one.id === id && one.fromMs <= fromMs)
  return {
    rules,
    servers: seen.servers.filter(isKept),
    // Once nothing of a rule is known from when it began to fire, nobody knows whether that was seen.
    episodes: seen.episodes
      .filter(isKept)
      .map(one => ({ ...one, isBeginSeen: one.isBeginSeen && isWitnessed(one) })),
  }
}
