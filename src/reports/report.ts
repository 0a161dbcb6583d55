import type { Resource } from '#src/model/resource.ts'

/*
 * A report is a view or function of schema `ferry`; `ferry report NAME` prints its rows. Its SQL text is in `sql/`, its entry
 * in `catalogue/`. What its columns hold:
 *
 *   ids        bigint or numeric(20,0): exact, and strings in JSON
 *   counts     integer
 *   fractions  double precision; `share` columns go from 0 to 1
 *   times      timestamptz; nights and days are dates
 *   durations  interval: seconds in JSON and CSV
 */

export type ReportOption = 'since' | 'account' | 'night'

export type Report = {
  /** The name of the view or function. */
  readonly name: string
  /** What it shows, as one line without a full stop. */
  readonly shows: string
  /** The inventories that its rows come from, as they are now or were. */
  readonly of?: readonly Resource[]
  /** The options it takes: $1, $2 … of its query, in this order. One that is not given is null. */
  readonly takes: readonly ReportOption[]
  readonly query: string
  /** What shows its rows as the snapshots of a night had them: $1 is the account or null, $2 the night. */
  readonly ofNight?: string
  readonly looksBack?: LooksBack
}

/** The options that may be given with a report. */
export function optionsOf({ takes, ofNight }: Pick<Report, 'takes' | 'ofNight'>): readonly ReportOption[] {
  return ofNight === undefined ? takes : [...takes, 'night']
}

/** What of the past a report counts, and how many days of it without `since`; null: all of it. */
export type LooksBack = { readonly at: 'versions' | 'runs' | 'calls'; readonly days: number | null }

/** The arguments of a report. `night` is a date such as `2026-11-20`. */
export type ReportArguments = {
  readonly since?: Date | undefined
  readonly account?: string | undefined
  readonly night?: string | undefined
}
