import type { Row } from './alert-models.ts'
import { dayOf } from './change-models.ts'
import { RUN_MS, TARGET_MS } from './store-history.ts'
import { type AccountHistory, DAY_MS, type Snapshot } from './world.ts'

/* The rows of the reports about freshness and nights, by the words of their COMMENT. */

/** The complete listings that meet the target, by when they began, in order. */
const listingsOf = ({ polls, targetFolders }: AccountHistory) =>
  polls
    .filter(one => one.status === 'succeeded')
    .filter(one => `${one.folders}` === '0' || `${one.folders}` === `${targetFolders}`)
    .map(({ atMs }) => ({ beganMs: atMs - RUN_MS, finishedMs: atMs }))

export type Spot = {
  readonly fromMs: number
  readonly toMs: number | null
  readonly lateMs: number
  readonly freshMs: number | null
  readonly error: string | null
}

export function blindSpotsOf(history: AccountHistory, sinceMs: number, nowMs: number): Spot[] {
  const listings = listingsOf(history)
  return listings.flatMap(({ beganMs, finishedMs }, n) => {
    const next = listings[n + 1]
    const lateMs = Math.max(beganMs + TARGET_MS, finishedMs)
    const freshMs = next?.finishedMs ?? null
    if ((freshMs ?? nowMs) <= Math.max(beganMs + TARGET_MS, sinceMs)) return []
    const failed = history.polls.findLast(
      one =>
        one.status !== 'succeeded' &&
        one.atMs - RUN_MS > beganMs &&
        (!next || one.atMs - RUN_MS < next.beganMs),
    )
    return [
      {
        fromMs: beganMs,
        toMs: next?.beganMs ?? null,
        lateMs,
        freshMs,
        error: failed?.status.toUpperCase() ?? null,
      },
    ]
  })
}

export function freshnessDaily(history: AccountHistory, sinceMs: number, nowMs: number): Row[] {
  const first = listingsOf(history)[0]
  if (!first) return []
  const beginsMs = Math.max(sinceMs, first.finishedMs)
  const spots = blindSpotsOf(history, sinceMs, nowMs)
  const rows: Row[] = []
  for (let day = Math.floor(beginsMs / DAY_MS) * DAY_MS; day < nowMs; day += DAY_MS) {
    const [fromMs, toMs] = [Math.max(day, beginsMs), Math.min(day + DAY_MS, nowMs)]
    const lateMs = spots
      .map(one => Math.min(one.freshMs ?? nowMs, toMs) - Math.max(one.lateMs, fromMs))
      .reduce((sum, ms) => sum + Math.max(0, ms), 0)
    rows.push([history.account, dayOf(day), 1 - lateMs / (toMs - fromMs)])
  }
  return rows
}

/** Fresh or late, and why it is late. */
export function freshness(history: AccountHistory, nowMs: number): Row {
  const last = listingsOf(history).at(-1)
  if (!last) return [history.account, 'never', history.polls.at(-1)?.status ?? 'no run']
  const isLate = nowMs - last.beganMs > TARGET_MS
  const since = history.polls.findLast(one => one.status !== 'succeeded' && one.atMs - RUN_MS > last.beganMs)
  return [history.account, isLate ? 'late' : 'fresh', isLate ? (since?.status ?? 'no run') : null]
}

export function nights({ account, snapshots }: AccountHistory, sinceMs: number, nowMs: number): Row[] {
  const byDay = Map.groupBy(snapshots, one => dayOf(one.atMs))
  const [first] = snapshots.toSorted((a, b) => a.atMs - b.atMs)
  if (!first) return []
  const chosen = (of: readonly Snapshot[]) =>
    of.find(one => one.isScheduled) ?? of.toSorted((a, b) => b.atMs - a.atMs)[0]
  const last = chosen(byDay.get([...byDay.keys()].toSorted().at(-1) as string) ?? []) as Snapshot
  // One that was taken by hand stands for the night, which ends when the schedule is due.
  const scheduled = snapshots.filter(one => one.isScheduled).toSorted((a, b) => b.atMs - a.atMs)[0]
  const lastDayMs = Math.floor(last.atMs / DAY_MS) * DAY_MS
  const lastMs =
    last.isScheduled || !scheduled ? last.atMs : Math.max(last.atMs, lastDayMs + (scheduled.atMs % DAY_MS))
  const rows: Row[] = []
  for (let ms = Math.floor(first.atMs / DAY_MS) * DAY_MS; ms < nowMs + DAY_MS; ms += DAY_MS) {
    const snapshot = chosen(byDay.get(dayOf(ms)) ?? [])
    const nightsLater = Math.round((ms - lastDayMs) / DAY_MS)
    const isOver = lastMs + nightsLater * DAY_MS + 3_600_000 <= nowMs
    if (dayOf(ms) < dayOf(sinceMs)) continue
    if (snapshot) rows.push([account, dayOf(ms), snapshot.status, new Date(snapshot.atMs)])
    else if (isOver) rows.push([account, dayOf(ms), 'missed', null])
  }
  return rows
}
