import type { Report } from '../report.ts'

export const IMPORT_REPORTS: readonly Report[] = [
  {
    name: 'import_funnel',
    shows: 'the rows of each import by result, from the file to the platform',
    takes: ['since', 'account'],
    query: `select * from ferry.import_funnel
      where created_at >= coalesce($1::timestamptz, '-infinity') and ($2::text is null or account = $2)`,
  },
  {
    name: 'rejects_by_reason',
    shows: 'why rows of imports were rejected, and how many',
    takes: ['since', 'account'],
    query: `select * from ferry.rejects_by_reason
      where created_at >= coalesce($1::timestamptz, '-infinity') and ($2::text is null or account = $2)`,
  },
  {
    name: 'subscribers_by_page_locale',
    shows: 'how many subscribers each status page was sent, by locale',
    takes: ['account'],
    query: 'select * from ferry.subscribers_by_page_locale where ($1::text is null or account = $1)',
  },
  {
    name: 'import_throughput',
    shows: 'how many calls and rows of imports were sent, minute by minute, against the limit',
    takes: ['since', 'account'],
    query: 'select * from ferry.import_throughput($1) where ($2::text is null or account = $2)',
  },
]
