import { ALERT_REPORTS } from './catalogue/alerts.ts'
import { AUDIT_REPORTS, FERRY_REPORTS } from './catalogue/ferry.ts'
import { FRESHNESS_REPORTS } from './catalogue/freshness.ts'
import { IMPORT_REPORTS } from './catalogue/imports.ts'
import { MCP_REPORTS } from './catalogue/mcp.ts'
import { OWNERSHIP_REPORTS } from './catalogue/ownership.ts'
import type { Report } from './report.ts'

export { type LooksBack, optionsOf, type Report, type ReportArguments, type ReportOption } from './report.ts'

/** Every report, in the order in which `ferry report` lists them. */
export const REPORTS: readonly Report[] = [
  ...FRESHNESS_REPORTS,
  ...ALERT_REPORTS,
  ...OWNERSHIP_REPORTS,
  ...MCP_REPORTS,
  ...IMPORT_REPORTS,
  ...FERRY_REPORTS,
  ...AUDIT_REPORTS,
]

/** Returns the report of this name, or undefined. */
export function findReport(name: string): Report | undefined {
  return REPORTS.find(report => report.name === name)
}
