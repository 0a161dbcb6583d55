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
] as const

export type EventKind = (typeof EVENT_KINDS)[number]

/** Events that say that something happened. The others last: they are raised, and later resolved. */
export const MOMENTARY: readonly EventKind[] = ['import.completed', 'mcp.tools.changed', 'drift.found']

/** Whether a message says that something began (or happened), or that it is over. */
export const EVENT_STATES = ['raised', 'resolved'] as const

export type EventState = (typeof EVENT_STATES)[number]

/**
 * The result of a message. dead: no receiver accepted it within a day. not sent: no receiver was set, or it does not want
 * this kind.
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

/** The content of a message beside its key. Ids are text. It holds no recipient, no key and no text of the platform. */
export type EventData = Readonly<Record<string, string | number | readonly string[] | null>>
