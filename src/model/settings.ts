import type { EventFilter, EventKind } from './event.ts'
import type { Secret } from './secret.ts'

/*
 * Settings as other rooms use them.
 */

/** Where the key of the built-in sandbox is set, in messages and in the freshness targets of its inventories. */
export const SANDBOX_KEY_SETTING = 'the sandbox'

/** How long each kind of row is kept, in milliseconds; null: for ever. */
export type Retention = {
  /** Ended versions and firings, and the snapshots of that time. */
  readonly versionsMs: number | null
  readonly callsMs: number | null
  /** Runs that changed nothing. */
  readonly runsMs: number | null
  /** Quarantined rows that are not listed any more. Those of a run go with it, too. */
  readonly quarantineMs: number | null
  /** Addresses and raw rows of imports that have ended. */
  readonly recipientsMs: number | null
  /** Events that are over. */
  readonly notificationsMs: number | null
}

/** Where Ferry sends events. Addresses are secret: anybody who has the URL of a chat's webhook can post there. */
export type NotifySettings = {
  /** That of `FERRY_WEBHOOK_URL`, and those of `FERRY_RECEIVERS_FILE`. */
  readonly receivers: readonly Receiver[]
  /** `FERRY_HEARTBEAT_URL` */
  readonly heartbeat: Secret | null
  /** `FERRY_WEBHOOK_PRIVATE`: whether they may be on a private network. */
  readonly allowsPrivate: boolean
  /** `FERRY_PUBLIC_URL`: where people reach the console, without a slash at the end. */
  readonly publicUrl: string | null
  /** `FERRY_TIMEZONE`: that of the times of digests. */
  readonly timezone: string
}

/** One address that events are posted to. */
export type Receiver = {
  readonly name: string
  readonly url: Secret
  /** Where the address is set, for messages. */
  readonly urlSetting: string
  /** The bytes that messages are signed with; null: they are not signed. */
  readonly key: Secret | null
  /** `standard`: the Standard Webhooks form. `slack`: text for a chat. */
  readonly format: WebhookFormat
  readonly kinds: readonly EventKind[]
  readonly filter: EventFilter
  /** Whether names of rules and people may be in its messages. */
  readonly details: boolean
  /** When its messages are sent, all in one, as a cron expression; null: each at once. */
  readonly digestCron: string | null
}

export const WEBHOOK_FORMATS = ['standard', 'slack'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/*
 * The maximum numbers of rows in one call that a person may ask for. No platform is known to accept as many: what it accepts
 * is learned from a 413, which halves the batch.
 */

/** For one import (`--batch`), where a person who knows the platform asks for it. */
export const MAX_BATCH_ROWS = 100_000

/** For all imports that say nothing else (`FERRY_IMPORT_BATCH`). */
export const MAX_DEFAULT_BATCH_ROWS = 10_000

/** An address, or all that begin with the same bits. */
export type Network = {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/** A header with groups, in lower case, and which of these have full access or may read. */
export type GroupAccess = {
  readonly header: string
  readonly full: readonly string[]
  readonly read: readonly string[]
}

/** A proxy that signs people in, and names them in a header of its requests. */
export type TrustedProxy = {
  /** In lower case. */
  readonly header: string
  readonly from: readonly Network[]
  /** Null: whoever it names has full access. */
  readonly groups: GroupAccess | null
}
