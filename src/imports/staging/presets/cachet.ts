import { atSomeTime, FINE, leftOut, type Preset } from './preset.ts'

/**
 * Cachet 2 and 3, from the table `subscribers` (github.com/cachethq/core, database/migrations: CreateSubscribersTable,
 * AlterTableSubscribersAddGlobalColumn, AlterTableSubscribersAddPhoneNumberSlackColumns): `email`, `verified_at`, `global`
 * (1 for all components), `phone_number`, `slack_webhook_url`; `subscriptions` has each one's components. Cachet 3 calls
 * the time `email_verified_at`, and its migration sets that to `created_at` for all who had not confirmed: an export from
 * before the upgrade is the one to trust.
 */
export const cachet: Preset = {
  product: 'Cachet',
  columns: {
    recipient: ['email', 'recipient'],
    all: ['global', 'all'],
    component_ids: ['subscriptions', 'components', 'component_ids'],
  },
  statuses: {
    verified_at: {
      columns: ['verified_at', 'email_verified_at'],
      required: true,
      judge: atSomeTime({ never: leftOut('unconfirmed'), once: FINE }),
    },
    deleted_at: {
      columns: ['deleted_at'],
      judge: atSomeTime({ never: FINE, once: leftOut('unsubscribed') }),
    },
  },
  others: ['phone_number', 'slack_webhook_url'],
  componentKey: 'component_id',
}
