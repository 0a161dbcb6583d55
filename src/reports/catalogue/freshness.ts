import type { Report } from '../report.ts'

export const FRESHNESS_REPORTS: readonly Report[] = [
  {
    name: 'freshness',
    shows: 'how old each inventory is, how old it may be, and why it is late',
    takes: ['account'],
    query: 'select * from ferry.freshness where ($1::text is null or account = $1)',
  },
  {
    name: 'freshness_daily',
    shows: 'for how much of each day each inventory was within its freshness target',
    takes: ['since', 'account'],
    looksBack: { at: 'runs', days: 7 },
    query: 'select * from ferry.freshness_daily($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'nights',
    shows: 'each night: its snapshot, and whether it was missed, held or partial',
    takes: ['since', 'account', 'night'],
    looksBack: { at: 'versions', days: 30 },
    query: `select * from ferry.nights(greatest($1, $3::date - 1))
      where ($2::text is null or account = $2) and ($3::date is null or night = $3)`,
  },
  {
    name: 'blind_spots',
    shows: 'from when to when nothing complete was read',
    takes: ['since', 'account'],
    looksBack: { at: 'runs', days: 7 },
    query: 'select * from ferry.blind_spots($1) where ($2::text is null or account = $2)',
  },
]
