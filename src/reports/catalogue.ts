import { FRESHNESS_REPORTS } from './catalogue/freshness.ts'
import type { Report } from './report.ts'

export type { Report, ReportArguments, ReportOption } from './report.ts'

/** Every report, in the order in which `ferry report` lists them. */
export const REPORTS: readonly Report[] = [...FRESHNESS_REPORTS]

/** Returns the report of this name, or undefined. */
export function findReport(name: string): Report | undefined {
  return REPORTS.find(report => report.name === name)
}
