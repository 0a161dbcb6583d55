import type { EventKind } from './event.ts'
import type { Secret } from './secret.ts'

/** Where Ferry tells people of events. Addresses are secret: whoever has that of a chat's webhook can write there. */
export type NotifySettings = {
  /** `FERRY_WEBHOOK_URL`; null if it is not set. */
  readonly webhook: Webhook | null
  /** `FERRY_HEARTBEAT_URL` */
  readonly heartbeat: Secret | null
  /** `FERRY_WEBHOOK_PRIVATE`: whether both may be on a private network. */
  readonly allowsPrivate: boolean
  /** `FERRY_NOTIFY` */
  readonly kinds: readonly EventKind[]
}

export type Webhook = {
  readonly url: Secret
  /** `FERRY_WEBHOOK_SECRET`: the bytes that messages are signed with; null: they are not signed. */
  readonly key: Secret | null
  /** `standard`: the Standard Webhooks form. `slack`: text for a chat. */
  readonly format: WebhookFormat
}

export const WEBHOOK_FORMATS = ['standard', 'slack'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]
