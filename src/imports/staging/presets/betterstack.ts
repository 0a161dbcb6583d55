import { atSomeTime, FINE, leftOut, type Preset } from './preset.ts'

/**
 * Better Stack, from its API (betterstack.com/docs/uptime/api/status-pages-subscribers-api-response-params): under
 * `attributes`, `email`, `status_page_resource_ids` ("An empty array means all status page resources") and
 * `confirmed_at`, null until confirmed. An empty cell is not an empty array: its meaning is unknown.
 */
export const betterstack: Preset = {
  product: 'Better Stack',
  columns: {
    recipient: ['email', 'recipient', 'attributes.email'],
    component_ids: ['status_page_resource_ids', 'component_ids', 'attributes.status_page_resource_ids'],
  },
  statuses: {
    confirmed_at: {
      columns: ['confirmed_at', 'attributes.confirmed_at'],
      required: true,
      judge: atSomeTime({ never: leftOut('unconfirmed'), once: FINE }),
    },
  },
  emptyListIsAll: true,
  inside: 'attributes',
}
