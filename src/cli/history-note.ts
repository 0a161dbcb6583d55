import type { Pool } from 'pg'
import type { suggest } from '#src/inventory/history/known-words.ts'
import { counted } from '#src/model/counted.ts'
import { DAY_MS } from '#src/model/duration.ts'
import type { Resource } from '#src/model/resource.ts'
import type { Retention } from '#src/model/settings.ts'
import type { LooksBack } from '#src/reports/catalogue.ts'
import { harmless, instant, printAside } from './output.ts'

/*
 * Notes beside a list: what is missing in one that looks back because it was removed for its age, and what may not be so any more.
 */

/** Says so if the history starts after `since`; unset: the list looks back as far as it can. */
export async function noteHistoryStart(pool: Pool, since: Date | undefined): Promise<void> {
  const { loadHistoryStart } = await import('#src/inventory/history/history-start.ts')
  const start = await loadHistoryStart(pool)
  if (start === null || (since !== undefined && since >= start)) return
  printAside(
    `ferry: the history starts at ${instant(start)}. Older versions and snapshots were removed (FERRY_KEEP_VERSIONS) and are neither shown nor counted.`,
  )
}

/** Says so if `asOf` is earlier than the first reading of an inventory: an empty result does not mean that nothing existed. */
export async function noteFirstReading(
  pool: Pool,
  resource: Resource,
  asOf: Date,
  account: string | undefined,
): Promise<void> {
  const { listFirstReadings } = await import('#src/inventory/history/history-start.ts')
  const later = (await listFirstReadings(pool, resource, account ?? null)).filter(({ at }) => at > asOf)
  if (later.length === 0) return
  const each = later.map(({ account, at }) => `account ${harmless(account)} at ${instant(at)}`)
  printAside(
    `ferry: the ${resource} of ${instant(asOf)} are not known: the first reading was of ${each.join(', of ')}.`,
  )
}

/** Says so if a report looks back farther than what it counts is kept. */
export async function noteLooksBack(
  pool: Pool,
  { at, days }: LooksBack,
  since: Date | undefined,
  { callsMs }: Retention,
): Promise<void> {
  const from = since ?? (days === null ? undefined : new Date(Date.now() - days * DAY_MS))
  if (at === 'versions') return noteHistoryStart(pool, from)
  if (from === undefined) return
  if (at === 'runs') return noteRunsStart(pool, from)
  if (callsMs === null || from.getTime() >= Date.now() - callsMs) return
  printAside(
    `ferry: calls are kept for ${counted(callsMs / DAY_MS, 'day')} (FERRY_KEEP_CALLS), those of imports forever. Other calls that are older are not counted.`,
  )
}

/** Says so if runs that ended after `since` were removed. */
export async function noteRunsStart(pool: Pool, since: Date): Promise<void> {
  const { loadRunsStart } = await import('#src/inventory/history/history-start.ts')
  const start = await loadRunsStart(pool)
  if (start === null || since >= start) return
  printAside(
    `ferry: runs before ${instant(start)} that changed nothing were removed (FERRY_KEEP_RUNS). What was read then is not known.`,
  )
}

/** Says so if `asOf` is still to come: what is shown is as of now. Returns the moment that is shown. */
export async function noteFuture(pool: Pool, asOf: Date): Promise<Date> {
  const { readClock } = await import('#src/db/clock.ts')
  const { now } = await readClock(pool)
  if (asOf <= now) return asOf
  printAside(
    `ferry: warning: ${instant(asOf)} is in the future, and nothing is known of it. Shown is what is known now, ${instant(now)}.`,
  )
  return now
}

/** Says so if `since` is still to come, and returns whether it is: nothing can have begun since then. */
export async function noteFutureSince(pool: Pool, since: Date): Promise<boolean> {
  const { readClock } = await import('#src/db/clock.ts')
  if (since <= (await readClock(pool)).now) return false
  printAside(`ferry: warning: ${instant(since)} is in the future: nothing has begun or changed since then.`)
  return true
}

/** Says, beside a list that is empty, what may have been meant. */
export async function noteSuggested(...of: Parameters<typeof suggest>): Promise<void> {
  const { suggest } = await import('#src/inventory/history/known-words.ts')
  for (const { truth, asked, meant } of await suggest(...of)) {
    printAside(harmless(`ferry: ${truth} ${JSON.stringify(asked)}; did you mean ${meant}?`))
  }
}

/** Says so if nothing was ever read: an empty result does not mean that nothing is there. */
export async function noteUnread(pool: Pool): Promise<void> {
  const { isAnythingRead } = await import('#src/inventory/history/history-start.ts')
  if (await isAnythingRead(pool)) return
  printAside('ferry: nothing has been read yet: `ferry sync all` reads both inventories now.')
}

/** Says, beside rows that come from these inventories, which of them are older than their freshness target, in one line. */
export async function noteLateness(
  pool: Pool,
  of: readonly Resource[],
  account: string | undefined,
): Promise<void> {
  const { loadLate } = await import('#src/reports/freshness.ts')
  const late = await loadLate(pool, of, account ?? null)
  if (late.length === 0) return
  const each = late.map(({ account, inventory, lastCompleteAt }) => {
    const read = lastCompleteAt === null ? 'never read completely' : `last read ${instant(lastCompleteAt)}`
    return `${inventory} of account ${harmless(account)} (${read})`
  })
  printAside(
    `ferry: these are older than their freshness target: ${each.join(', ')}. \`ferry freshness\` shows why.`,
  )
}
