import type { Report } from '../report.ts'

export const FRESHNESS_REPORTS: readonly Report[] = [
  {
    name: 'freshness',
    shows: 'how old each inventory is, how old it may be, and why it is late',
    takes: ['account'],
    query: 'select * from ferry.freshness where account = coalesce($1, account)',
  },
]
