import { type Html, html } from '../html.ts'

/** The pages of the ledger. */
export const LEDGER_TABS = {
  '/ledger': 'Runs',
  '/ledger/calls': 'Calls',
  '/ledger/schedules': 'Schedules',
  '/ledger/snapshots': 'Snapshots',
  '/ledger/holds': 'Holds',
  '/ledger/events': 'Notifications',
  '/ledger/audit': 'Audit',
} as const

/** The links between the pages of the ledger. */
export function ledgerTabs(here: keyof typeof LEDGER_TABS): Html {
  return html`<nav aria-label="Ledger"><ul class="tabs">${Object.entries(LEDGER_TABS).map(
    ([path, name]) =>
      html`<li><a href="${path}"${path === here ? html` aria-current="page"` : null}>${name}</a></li>`,
  )}</ul></nav>`
}
