import { CONFIRMED, FINE, leftOut, oneOf, type Preset } from './preset.ts'

/**
 * Instatus, from its API, `GET /v2/:page_id/subscribers` (instatus.com/help/api/subscribers): `email`, `phone`, `webhook`,
 * `webhookEmail`, `confirmed`, `all`, `components` (ids). Subscribers by telephone or webhook have `email` null.
 * Records of single subscribers also have `approved`, and a `language` without a region, which is not a locale here.
 */
export const instatus: Preset = {
  product: 'Instatus',
  columns: {
    recipient: ['email', 'recipient'],
    component_ids: ['components', 'component_ids'],
    locale: ['locale'],
  },
  statuses: {
    confirmed: { columns: ['confirmed'], required: true, judge: CONFIRMED },
    approved: {
      columns: ['approved'],
      judge: oneOf({ true: FINE, '1': FINE, false: leftOut('not approved'), '0': leftOut('not approved') }),
    },
  },
  others: ['phone', 'webhook', 'slack', 'discord', 'microsoftTeamsWebhook', 'googleChatWebhook'],
}
