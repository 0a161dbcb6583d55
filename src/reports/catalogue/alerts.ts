import type { Report } from '../report.ts'

export const ALERT_REPORTS: readonly Report[] = [
  {
    name: 'rules_noisy',
    shows: 'which rules fired most often: episodes, hours, flaps, the share at night',
    of: ['alert-rules'],
    takes: ['since', 'account'],
    looksBack: { at: 'versions', days: 7 },
    query: 'select * from ferry.rules_noisy($1, of_account => $2)',
  },
  {
    name: 'rules_longest_firing',
    shows: 'the longest episode of each rule that fired',
    of: ['alert-rules'],
    takes: ['since', 'account'],
    looksBack: { at: 'versions', days: 7 },
    query: 'select * from ferry.rules_longest_firing($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'time_to_clear',
    shows: 'how long episodes last, by team: p50, p90, the longest',
    of: ['alert-rules'],
    takes: ['since', 'account'],
    looksBack: { at: 'versions', days: 7 },
    query: 'select * from ferry.time_to_clear($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'rules_never_fired',
    shows: 'enabled rules that never fired, and for how many days they were there and enabled',
    of: ['alert-rules'],
    takes: ['account'],
    looksBack: { at: 'versions', days: null },
    query: 'select * from ferry.rules_never_fired(of_account => $1)',
  },
  {
    name: 'rules_switched_off',
    shows: 'disabled rules: since when, and who disabled them',
    of: ['alert-rules'],
    takes: ['account'],
    looksBack: { at: 'versions', days: null },
    query: 'select * from ferry.rules_switched_off where ($1::text is null or account = $1)',
  },
  {
    name: 'rules_debug_left_on',
    shows: 'rules with debug logging on: since when, and who switched it on',
    of: ['alert-rules'],
    takes: ['account'],
    looksBack: { at: 'versions', days: null },
    query: 'select * from ferry.rules_debug_left_on where ($1::text is null or account = $1)',
  },
  {
    name: 'rules_contract_breaks',
    shows:
      'rules that break what the platform requires of cron_pattern and timezone, and patterns that Ferry cannot read',
    of: ['alert-rules'],
    takes: ['account'],
    query: 'select * from ferry.rules_contract_breaks where ($1::text is null or account = $1)',
  },
  {
    name: 'rules_default_timezone',
    shows: 'rules without a time zone: the platform takes Asia/Shanghai',
    of: ['alert-rules'],
    takes: ['account'],
    query: 'select * from ferry.rules_default_timezone where ($1::text is null or account = $1)',
  },
  {
    name: 'cron_load',
    shows: 'evaluations per minute of this week by the cron patterns of enabled rules, the worst minutes',
    of: ['alert-rules'],
    takes: ['account'],
    query: 'select * from ferry.cron_load(of_account => $1)',
  },
]
