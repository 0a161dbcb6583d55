import type { Pool } from 'pg'
import { DAY_MS } from '#src/model/duration.ts'
import type { Retention } from '#src/model/retention.ts'
import type { LooksBack } from '#src/reports/catalogue.ts'
import { instant, printAside } from './output.ts'

/*
 * Notes beside a list that looks back: what is missing in it because it was removed for its age.
 */

/** Says so if the history starts after `since`; unset: the list looks back as far as it can. */
export async function noteHistoryStart(pool: Pool, since: Date | undefined): Promise<void> {
  const { loadHistoryStart } = await import('#src/inventory/history-start.ts')
  const start = await loadHistoryStart(pool)
  if (start === null || (since !== undefined && since >= start)) return
  printAside(
    `ferry: the history starts at ${instant(start)}. What ended before was removed (FERRY_KEEP_VERSIONS), so nothing earlier is shown or counted.`,
  )
}

/** Says so if a report looks back farther than what it counts is kept. */
export async function noteLooksBack(
  pool: Pool,
  { at, days }: LooksBack,
  since: Date | undefined,
  { runsMs, callsMs }: Retention,
): Promise<void> {
  const from = since ?? (days === null ? undefined : new Date(Date.now() - days * DAY_MS))
  if (at === 'versions') return noteHistoryStart(pool, from)
  const keptMs = at === 'runs' ? runsMs : callsMs
  if (keptMs === null || from === undefined || from.getTime() >= Date.now() - keptMs) return
  const [what, setting] =
    at === 'runs' ? ['runs that changed nothing', 'FERRY_KEEP_RUNS'] : ['calls', 'FERRY_KEEP_CALLS']
  printAside(`ferry: ${what} are kept for ${keptMs / DAY_MS} days (${setting}). Older ones are not counted.`)
}
