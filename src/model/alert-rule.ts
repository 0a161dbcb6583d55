import { type Declaration, type Integer, open, optional, type RowOf, required } from './fields.ts'

/**
 * Alert rules as the contract declares them (AlertRuleBasic). `created_at` and `updated_at` are integers whose unit the
 * contract does not state: they are stored as given.
 */
export const ALERT_RULE = {
  fingerprintVersion: 1,
  id: 'id',
  name: 'name',
  folder: 'folder_id',
  fields: {
    id: required('uint64', "The rule's id on the platform (uint64)."),
    account_id: required('uint64', "The platform's id of the owning account (uint64)."),
    folder_id: required('uint64', 'The folder that contains the rule (uint64).', 'Folder'),
    name: required('text', "The rule's name."),
    labels: optional('labels', "The rule's labels, a flat object of texts; null if the platform sent none."),
    ds_type: open(required('text', 'Data source type, for example prometheus.', 'Data source')),
    enabled: required('flag', 'Whether the rule is switched on.'),
    debug_log_enabled: required('flag', 'Whether the rule writes a debug log.'),
    cron_pattern: required('text', 'When the rule is evaluated, as the platform wrote it.', 'Schedule'),
    timezone: optional(
      'text',
      'The IANA time zone in which cron_pattern is read; null if the platform sent none. The platform reads an empty one as Asia/Shanghai.',
    ),
    delay_seconds: required('int64', 'Evaluation delay in seconds.', 'Delay, as given'),
    creator_id: required('uint64', 'Id of the person who created the rule (uint64).'),
    creator_name: required('text', 'Name of the person who created the rule.', 'Created by'),
    updater_id: {
      ...required('uint64', 'Id of the person who changed the rule last (uint64).'),
      isAboutEdit: true,
    },
    updater_name: {
      ...required('text', 'Name of the person who changed the rule last.', 'Last edited by'),
      isAboutEdit: true,
    },
    created_at: required(
      'int64',
      'When the rule was created, as the platform gave it. Its unit is not documented.',
    ),
    updated_at: {
      ...required(
        'int64',
        'When the rule was last changed, as the platform gave it. Its unit is not documented.',
      ),
      isAboutEdit: true,
    },
    triggered: {
      ...required('flag', 'Whether the rule had an active alert when it was last read.'),
      isState: true,
    },
  },
} as const satisfies Declaration

/** An alert rule, ids and integers exact. */
export type AlertRule<Int extends Integer = Integer> = RowOf<typeof ALERT_RULE.fields, Int>

/**
 * Returns a function that names which requirements of the contract about time an alert rule breaks, or undefined if it
 * breaks none. Such a rule is stored as it is: Ferry reports what the platform has. The function remembers what it has looked
 * up, because many rules have the same schedule.
 */
export function alertRuleFlags(): (
  rule: Pick<AlertRule, 'cron_pattern' | 'timezone'>,
) => readonly string[] | undefined {
  const isZone = remembered(name => name.length <= MAX_ZONE && isIanaZone(name))
  const faultOf = remembered(faultOfPattern)
  return ({ cron_pattern, timezone }) => {
    const fault = faultOf(cron_pattern)
    // An empty time zone stands for the platform's default.
    const zoneFault = timezone && !isZone(timezone) ? 'timezone is not an IANA name' : null
    const flags = [fault, zoneFault].filter(flag => flag !== null)
    return flags.length > 0 ? flags : undefined
  }
}

/** At most this many texts are remembered, and no longer ones. */
const MAX_REMEMBERED = 10_000
const MAX_LENGTH = 100

function remembered<T>(find: (text: string) => T): (text: string) => T {
  const found = new Map<string, T>()
  return text => {
    const before = found.get(text)
    if (before !== undefined) return before
    const now = find(text)
    if (found.size >= MAX_REMEMBERED) found.clear()
    if (text.length <= MAX_LENGTH) found.set(text, now)
    return now
  }
}

function faultOfPattern(pattern: string): string | null {
  if (/^(CRON_)?TZ=/.test(pattern)) return 'cron_pattern names a time zone'
  return pattern.trim().split(/\s+/).length === 5 ? null : 'cron_pattern does not have 5 fields'
}

/** No IANA name has more characters. */
const MAX_ZONE = 64

/** The IANA names without a slash. Intl also accepts abbreviations (`CST`) that are not names of zones. */
const SINGLE_NAMES = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran ' +
    'Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore ' +
    'Turkey UCT UTC Universal W-SU WET Zulu'
  ).split(' '),
)

function isIanaZone(name: string): boolean {
  if (!name.includes('/')) return SINGLE_NAMES.has(name)
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
