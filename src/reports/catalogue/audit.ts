import type { Report } from '../report.ts'

export const AUDIT_REPORTS: readonly Report[] = [
  {
    name: 'audit_log',
    shows: 'what people did by hand, when and why',
    takes: ['since', 'account'],
    query: `select * from ferry.audit_log
      where at >= coalesce($1::timestamptz, '-infinity') and ($2::text is null or account = $2)`,
  },
]
