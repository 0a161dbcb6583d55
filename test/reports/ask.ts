import { expect } from 'vitest'
import { findReport, type ReportArguments } from '#src/reports/catalogue.ts'
import { runReport } from '#src/reports/run-report.ts'
import type { TestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion, type RuleVersion, type Span } from '#test/support/versions.ts'

/** An instant some minutes ago, at a whole minute. A test that goes on into the next minute counts from the one it began in. */
export function minutesAgo(minutes: number): Date {
  const { testPath, currentTestName } = expect.getState()
  const test = `${testPath} ${currentTestName}`
  if (test !== counted.test) counted = { test, fromMinute: Math.floor(Date.now() / 60_000) }
  return new Date((counted.fromMinute - minutes) * 60_000)
}

let counted = { test: '', fromMinute: 0 }

export const HOUR = 60
export const DAY = 24 * HOUR

/** The rows of a report as `ferry report` shows them, of each the columns that are asked for. */
export async function ask(
  store: TestStore,
  name: string,
  columns: string,
  given: ReportArguments = {},
): Promise<unknown[][]> {
  const report = findReport(name)
  if (!report) throw new Error(`there is no report ${name}`)
  const shown = await runReport(store.pool, report, given)
  return shown.rows.map(row =>
    columns.split(' ').map(column => {
      if (!shown.columns.includes(column)) throw new Error(`${name} has no column ${column}`)
      return row[shown.columns.indexOf(column)]
    }),
  )
}

/** A version or an episode from so many minutes ago to so many minutes ago. */
type Ago<T extends Span> = Omit<T, 'from' | 'to'> & { readonly from: number; readonly to?: number }

const times = ({ from, to }: Ago<Span>) => ({
  from: minutesAgo(from),
  to: to === undefined ? undefined : minutesAgo(to),
})
export const insert = (store: TestStore, { from, to, ...version }: Ago<RuleVersion>) =>
  insertRuleVersion(store.pool, { ...version, ...times({ from, ...(to !== undefined && { to }) }) })
export const fire = (store: TestStore, { from, to, ...firing }: Ago<Span>) =>
  insertFiring(store.pool, { ...firing, ...times({ from, ...(to !== undefined && { to }) }) })

/** A rule edited so many minutes ago by these people, the last first. */
export async function edited(
  store: TestStore,
  id: string,
  folder: number,
  edits: [ago: number, by: string][],
) {
  let to: number | undefined
  for (const [ago, by] of edits) {
    await insert(store, {
      id,
      name: `rule ${id} ${ago}`,
      folder,
      by,
      from: ago,
      ...(to !== undefined && { to }),
    })
    to = ago
  }
  await insert(store, {
    id,
    name: `rule ${id}`,
    folder,
    by: 'Nobody',
    from: 60 * DAY,
    ...(to !== undefined && { to }),
  })
}
