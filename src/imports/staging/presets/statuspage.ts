import { atSomeTime, FINE, leftOut, type Preset, UNKNOWN } from './preset.ts'

/**
 * Atlassian Statuspage.
 *
 * From its API, `GET /pages/{page_id}/subscribers` (developer.statuspage.io): `mode` (email, sms, webhook, slack, …),
 * `email`, `components` (ids), `quarantined_at`, `purge_at` (when a quarantined subscriber will be removed). The list
 * itself is of one `state`: active (the default), unconfirmed, quarantined, or all; a list of all should contain it as a
 * column. The documentation does not say that a row without components is for all of them: use `--all`.
 *
 * In the CSV it imports (support.atlassian.com/statuspage/docs/import-subscribers-via-csv) the first column is the kind
 * (`email`, `sms`), the second the address, the third yes or no (whether to skip the confirmation). It may come without
 * a header.
 */
export const statuspage: Preset = {
  product: 'Atlassian Statuspage',
  columns: {
    recipient: ['email', 'recipient', 'email address', 'address'],
    component_ids: ['components', 'component_ids'],
  },
  statuses: {
    mode: {
      columns: ['mode', 'type', 'subscriber type'],
      judge: (value, method) => {
        if (!MODES.has(value)) return UNKNOWN
        return value === method ? FINE : leftOut(`not ${method}`)
      },
    },
    state: {
      columns: ['state', 'status'],
      judge: value => {
        if (value === 'active') return FINE
        return STATES.has(value) ? leftOut(value) : UNKNOWN
      },
    },
    quarantined_at: {
      columns: ['quarantined_at'],
      judge: atSomeTime({ never: FINE, once: leftOut('quarantined') }),
    },
    purge_at: { columns: ['purge_at'], judge: atSomeTime({ never: FINE, once: leftOut('quarantined') }) },
  },
  headerOf([mode, address, ...rest]) {
    const isRow =
      /^(?:email|sms)$/i.test(mode?.trim() ?? '') && /@|^\+?[\d\s().-]+$/.test(address?.trim() ?? '')
    return isRow ? ['mode', 'email', ...rest.map((_, nth) => (nth === 0 ? 'skip_confirmation' : ''))] : null
  },
}

const MODES = new Set(['email', 'sms', 'webhook', 'slack', 'teams', 'integration_partner'])
const STATES = new Set(['unconfirmed', 'quarantined', 'unsubscribed'])
