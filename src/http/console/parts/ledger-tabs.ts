import type { Html } from '../html.ts'
import { tabs } from './tabs.ts'

/** The pages of the ledger. */
const LEDGER_TABS = {
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
  return tabs('Ledger', LEDGER_TABS, here)
}
