import type { Pool } from 'pg'
import { loadHistoryStart, loadRunsStart } from '#src/inventory/history/history-start.ts'
import { type Html, html } from '../html.ts'
import { time } from './values.ts'

/** Says so, below what looks back to `since`, if the history starts later; undefined: it looks back as far as it can. */
export async function historyNote(
  reader: Pool,
  since: Date | undefined,
  timezone: string,
): Promise<Html | null> {
  const start = await loadHistoryStart(reader)
  if (start === null || (since && since >= start)) return null
  return html`<p class="notice">The history starts at ${time(start, timezone)}. Older versions were removed after <code>FERRY_KEEP_VERSIONS</code>.</p>`
}

/** Says so, beside what is not known of a time from `since` on, if runs of it were removed. */
export async function runsNote(reader: Pool, since: Date, timezone: string): Promise<Html | null> {
  const start = await loadRunsStart(reader)
  if (start === null || since >= start) return null
  return html`<p class="notice">Runs before ${time(start, timezone)} that changed nothing were removed after <code>FERRY_KEEP_RUNS</code>. What was read then is not known.</p>`
}
