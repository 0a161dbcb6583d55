import { type Episode, isAt, type Seen, type Version } from './seen.ts'
import { DAY_MS, type Definition, MINUTE_MS } from './world.ts'

/* The rows of the reports about alert rules, from the events, by the words of their COMMENT. Durations are in milliseconds. */

export type Row = readonly unknown[]

const keyOf = ({ account, id }: { account: string; id: string }) => `${account} ${id}`
const lastOf = (seen: Seen, of: { account: string; id: string }) =>
  seen.rules
    .filter(one => keyOf(one) === keyOf(of))
    .toSorted((a, b) => b.fromMs - a.fromMs)[0] as Version<Definition>
const currentOf = (seen: Seen) => seen.rules.filter(({ toMs }) => toMs === null)
export const idOf = (name: string) => BigInt(name.length)

/** Linear between the two nearest values, as percentile_cont is. */
function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)] as number, sorted[Math.ceil(place)] as number]
  return low + (high - low) * (place - Math.floor(place))
}

const endedSince = (sinceMs: number) => (one: Episode) => one.toMs === null || one.toMs > sinceMs

export function neverFired(seen: Seen, nowMs: number, startMs: number, account: string | null): Row[] {
  const fired = new Set(seen.episodes.map(keyOf))
  return currentOf(seen)
    .filter(one => one.of.enabled && !fired.has(keyOf(one)) && (account === null || account === one.account))
    .map(rule => {
      const all = seen.rules.filter(one => keyOf(one) === keyOf(rule))
      const enabledMs = all
        .filter(one => one.of.enabled)
        .map(one => Math.max(0, (one.toMs ?? nowMs) - Math.max(one.fromMs, startMs)))
        .reduce((sum, ms) => sum + ms, 0)
      const firstMs = Math.min(...all.map(one => one.fromMs))
      return [rule.account, BigInt(rule.id), rule.of.name, new Date(firstMs), enabledMs / DAY_MS]
    })
}

export function timeToClear(seen: Seen, sinceMs: number): Row[] {
  const ended = seen.episodes.filter(one => one.toMs !== null && one.toMs > sinceMs)
  const groups = Map.groupBy(ended, one => JSON.stringify([one.account, lastOf(seen, one).of.team]))
  return [...groups].map(([key, episodes]) => {
    const took = episodes
      .filter(one => one.isBeginSeen && !one.isRemoved)
      .map(one => (one.toMs as number) - one.fromMs)
    const ms = (value: number | null) => (value === null ? null : { intervalMs: value })
    return [
      ...JSON.parse(key),
      took.length,
      ms(percentile(took, 0.5)),
      ms(percentile(took, 0.9)),
      ms(percentile(took, 1)),
      episodes.filter(one => one.isRemoved).length,
      episodes.filter(one => !one.isRemoved && !one.isBeginSeen).length,
    ]
  })
}

/** `zoneOf` says in which zone the times of a rule are read. */
export function noisy(
  seen: Seen,
  sinceMs: number,
  nowMs: number,
  zoneOf: (timezone: string | null) => string,
): Row[] {
  const groups = Map.groupBy(seen.episodes.filter(endedSince(sinceMs)), keyOf)
  return [...groups.values()].flatMap(episodes => {
    const begun = episodes.filter(one => one.isBeginSeen)
    const [first] = episodes as [Episode]
    if (begun.length === 0) return []
    const rule = lastOf(seen, first)
    const hours = episodes
      .map(one => (one.toMs ?? nowMs) - Math.max(one.fromMs, sinceMs))
      .reduce((sum, ms) => sum + ms / (60 * MINUTE_MS), 0)
    const flaps = begun.filter(one =>
      seen.episodes.some(
        before =>
          keyOf(before) === keyOf(one) &&
          before.toMs !== null &&
          before.toMs <= one.fromMs &&
          one.fromMs - before.toMs <= 10 * MINUTE_MS,
      ),
    ).length
    const atNight = begun.filter(one => {
      const hour = hourIn(zoneOf(rule.of.timezone), one.fromMs)
      return hour < 7 || hour >= 22
    }).length
    return [
      [
        rule.account,
        BigInt(rule.id),
        rule.of.name,
        rule.of.team,
        begun.length,
        hours,
        flaps,
        atNight / begun.length,
        new Date(Math.max(...begun.map(one => one.fromMs))),
        episodes.some(one => one.toMs === null),
      ],
    ]
  })
}

function hourIn(timeZone: string, ms: number): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', hourCycle: 'h23' })
  return Number(format.format(ms))
}

export function longestFiring(seen: Seen, sinceMs: number, nowMs: number): Row[] {
  const groups = Map.groupBy(seen.episodes.filter(endedSince(sinceMs)), keyOf)
  return [...groups.values()].map(episodes => {
    const lengthOf = (one: Episode) => (one.toMs ?? nowMs) - one.fromMs
    const longest = Math.max(...episodes.map(lengthOf))
    const [first] = episodes as [Episode]
    return [first.account, BigInt(first.id), lastOf(seen, first).of.name, longest]
  })
}

/** Since when the current rules are as `isOn` says: rules_switched_off and rules_debug_left_on. */
export function switched(seen: Seen, startMs: number, isOn: (of: Definition) => boolean): Row[] {
  return currentOf(seen)
    .filter(rule => isOn(rule.of))
    .map(rule => {
      const all = seen.rules.filter(one => keyOf(one) === keyOf(rule)).toSorted((a, b) => a.fromMs - b.fromMs)
      const lastOff = all.findLastIndex(one => !isOn(one.of))
      const first = all[lastOff + 1] as Version<Definition>
      const before = all[lastOff]
      const isKnown = before ? before.toMs === first.fromMs : first.fromMs >= startMs ? false : null
      return [rule.account, BigInt(rule.id), rule.of.name, new Date(first.fromMs), isKnown, first.of.by]
    })
}

const COLUMNS = {
  name: 'name',
  folder: 'folder_id',
  team: 'labels',
  enabled: 'enabled',
  debug: 'debug_log_enabled',
  cron: 'cron_pattern',
  timezone: 'timezone',
} as const

export function fieldsThatDiffer(a: Definition, b: Definition): string[] {
  const differing = Object.entries(COLUMNS).filter(
    ([key]) => a[key as keyof Definition] !== b[key as keyof Definition],
  )
  return differing.map(([, column]) => column).toSorted()
}

export function silenced(seen: Seen, sinceMs: number): Row[] {
  return seen.rules.flatMap(before => {
    const atMs = before.toMs
    if (atMs === null || atMs < sinceMs) return []
    const episode = seen.episodes
      .filter(one => keyOf(one) === keyOf(before) && one.fromMs < atMs)
      .filter(one => one.toMs === null || one.toMs >= atMs - 60 * MINUTE_MS)
      .toSorted((a, b) => b.fromMs - a.fromMs)[0]
    if (!episode) return []
    const after = seen.rules.find(one => keyOf(one) === keyOf(before) && one.fromMs === atMs)
    const what = !after ? 'removed' : before.of.enabled && !after.of.enabled ? 'disabled' : 'edited'
    const fields = after ? fieldsThatDiffer(before.of, after.of) : []
    return [
      [
        before.account,
        new Date(atMs),
        what,
        BigInt(before.id),
        (after ?? before).of.name,
        BigInt((after ?? before).of.folder),
        (after ?? before).of.team,
        fields.length > 0 ? fields : null,
        after?.of.by ?? null,
        new Date(episode.fromMs),
        episode.toMs === null ? null : new Date(episode.toMs),
        episode.toMs === null || episode.toMs >= atMs,
      ],
    ]
  })
}

/** Rules as they were at a moment of each account; null for one that has none. */
export function rulesAt(seen: Seen, atMsOf: (account: string) => number | null) {
  return seen.rules
    .filter(one => {
      const atMs = atMsOf(one.account)
      return atMs !== null && isAt(one, atMs)
    })
    .map(rule => ({
      ...rule,
      isFiring: seen.episodes.some(
        one => keyOf(one) === keyOf(rule) && isAt(one, atMsOf(rule.account) as number),
      ),
    }))
}

export function ruleCounts(rules: ReturnType<typeof rulesAt>, by: 'folder' | 'team'): Row[] {
  const groups = Map.groupBy(rules, one => JSON.stringify([one.account, one.of[by]]))
  return [...groups].map(([key, of]) => {
    const [account, value] = JSON.parse(key)
    const count = (is: (one: (typeof of)[number]) => boolean) => of.filter(is).length
    return [
      account,
      by === 'folder' ? BigInt(value) : value,
      of.length,
      count(one => one.of.enabled),
      count(one => !one.of.enabled),
      count(one => one.isFiring),
      count(one => one.of.debug),
      by === 'folder' ? count(one => one.of.team === null) : new Set(of.map(one => one.of.folder)).size,
    ]
  })
}

export const unowned = (rules: ReturnType<typeof rulesAt>): Row[] =>
  rules
    .filter(one => one.of.team === null)
    .map(one => [one.account, BigInt(one.of.folder), BigInt(one.id), one.of.name])
