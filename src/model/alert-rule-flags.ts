import type { AlertRule } from './alert-rule.ts'

/**
 * Returns a function that names which requirements of the contract about time an alert rule breaks, or undefined if it
 * breaks none. Such a rule is stored as it is: Ferry reports what the platform has. The function caches the time zones it
 * has looked up, because looking one up costs far more than the rest.
 */
export function alertRuleFlags(): (
  rule: Pick<AlertRule, 'cron_pattern' | 'timezone'>,
) => readonly string[] | undefined {
  const zones = new Map<string, boolean>()
  function isZone(name: string): boolean {
    if (name.length > LONGEST_ZONE) return false
    const known = zones.get(name) ?? isIanaZone(name)
    zones.set(name, known)
    return known
  }
  return rule => {
    const flags: string[] = []
    if (/^(CRON_)?TZ=/.test(rule.cron_pattern)) flags.push('cron_pattern names a time zone')
    else if (rule.cron_pattern.trim().split(/\s+/).length !== 5)
      flags.push('cron_pattern does not have 5 fields')
    // An empty time zone stands for the platform's default.
    if (rule.timezone && !isZone(rule.timezone)) flags.push('timezone is not an IANA name')
    return flags.length > 0 ? flags : undefined
  }
}

/** No IANA name has more characters; longer texts are not cached. */
const LONGEST_ZONE = 64

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
