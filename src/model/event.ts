/** The events that Ferry sends to the people on call. The names are those of `FERRY_NOTIFY` and of the messages. */
export const EVENT_KINDS = [
  'inventory.late',
  'removals.held',
  'run.failing',
  'night.missed',
  'import.paused',
  'import.undecided',
  'import.completed',
  'mcp.tools.changed',
  'drift.found',
  'rule.disabled',
  'rule.removed',
  'rule.changed',
  'rule.added',
] as const

export type EventKind = (typeof EVENT_KINDS)[number]

/** What people do to alert rules in the platform, what matters most first. They are many, so a receiver gets those it names. */
export const RULE_EVENTS = ['rule.disabled', 'rule.removed', 'rule.changed', 'rule.added'] as const
export type RuleEvent = (typeof RULE_EVENTS)[number]

export function isRuleEvent(kind: EventKind): kind is RuleEvent {
  return RULE_EVENTS.some(one => one === kind)
}

/** What a receiver gets that names nothing: that something is wrong with the work of Ferry, or done. */
export const USUAL_EVENTS: readonly EventKind[] = EVENT_KINDS.filter(kind => !isRuleEvent(kind))

/** Events that say that something happened. The others last: they are raised, and later resolved. */
export const MOMENTARY: readonly EventKind[] = [
  'import.completed',
  'mcp.tools.changed',
  'drift.found',
  ...RULE_EVENTS,
]

/** Which events a receiver wants. Null narrows nothing. All but the accounts are about events of rules, and leave others alone. */
export type EventFilter = {
  readonly accounts: readonly string[] | null
  /** Ids. A rule that was moved is in the folder that it left, too; so are its team and its labels. */
  readonly folders: readonly string[] | null
  readonly teams: readonly string[] | null
  /** Each label has one of these values. */
  readonly labels: Readonly<Record<string, readonly string[]>> | null
  /** Of changes alone: those of one of these fields. */
  readonly fields: readonly string[] | null
  /** Names or ids of those who added or changed. Who removed a rule is not known. */
  readonly people: readonly string[] | null
}

/** Whether a message says that something began (or happened), or that it is over. */
export const EVENT_STATES = ['raised', 'resolved'] as const

export type EventState = (typeof EVENT_STATES)[number]

/**
 * The result of a message to a receiver. dead: it was not accepted within a day. not sent: no receiver was set, or none wants
 * it.
 */
export const DELIVERIES = ['delivered', 'waiting', 'dead', 'not sent'] as const
export type DeliveryState = (typeof DELIVERIES)[number]

/** The subject of an event. At most one event of a kind is open for each account and subject. */
export type EventKey = {
  readonly kind: EventKind
  readonly account: string
  /** The subject within the account: an inventory or the id of an import; empty for the account itself. */
  readonly subject: string
}

/**
 * What a message contains beside its key. Ids are text. It holds no recipient and no key, and no text of the platform, except
 * names for a receiver that asks for them.
 */
export type EventData = Readonly<Record<string, string | number | readonly string[] | null>>
