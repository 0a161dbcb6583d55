import type { Report } from '../report.ts'

/** How Ferry itself does. */
export const FERRY_REPORTS: readonly Report[] = [
  {
    name: 'limit_use',
    shows: 'how much of each limit was used, minute by minute',
    takes: ['since', 'account'],
    looksBack: { at: 'calls', days: 1 / 24 },
    query: `select * from ferry.limit_use($1) where $2::text is null or $2 = any (string_to_array(account, ', '))`,
  },
  {
    name: 'call_latency',
    shows: 'how long the platform takes to answer, by operation',
    takes: ['since', 'account'],
    looksBack: { at: 'calls', days: 1 },
    query: 'select * from ferry.call_latency($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'calls_refused',
    shows: 'calls that the platform did not accept, by code, with request ids',
    takes: ['since', 'account'],
    looksBack: { at: 'calls', days: 7 },
    query: 'select * from ferry.calls_refused($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'runs_health',
    shows: 'how the runs of each inventory ended, and how long they took',
    takes: ['since', 'account'],
    looksBack: { at: 'runs', days: 1 },
    query: 'select * from ferry.runs_health($1) where ($2::text is null or account = $2)',
  },
]

export const AUDIT_REPORTS: readonly Report[] = [
  {
    name: 'audit_log',
    shows: 'manual actions: who did what, when and why',
    takes: ['since', 'account'],
    query: `select * from ferry.audit_log
      where at >= coalesce($1::timestamptz, '-infinity') and ($2::text is null or account = $2)`,
  },
]
