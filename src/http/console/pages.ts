import type { Action, Lookup, Page } from './page.ts'
import { CHANGES_PAGES } from './pages/changes.ts'
import { FIRING_PAGES } from './pages/firing.ts'
import { HOLD_PAGE } from './pages/hold.ts'
import { HOLD_ACTIONS } from './pages/hold-actions.ts'
import { HOLD_PAGES } from './pages/holds.ts'
import { IMPORT_PAGES } from './pages/import.ts'
import { IMPORT_ACTIONS } from './pages/import-actions.ts'
import { recipientLookup } from './pages/import-recipient.ts'
import { IMPORTS_PAGES } from './pages/imports.ts'
import { LEDGER_PAGES } from './pages/ledger.ts'
import { MCP_PAGES } from './pages/mcp.ts'
import { NOW_PAGES } from './pages/now.ts'
import { SCHEDULE_ACTIONS, SCHEDULE_PAGES } from './pages/schedules.ts'

/** Every page. */
export const PAGES: readonly Page[] = [
  ...NOW_PAGES,
  ...CHANGES_PAGES,
  ...FIRING_PAGES,
  ...IMPORTS_PAGES,
  ...IMPORT_PAGES,
  ...LEDGER_PAGES,
  ...SCHEDULE_PAGES,
  ...HOLD_PAGES,
  HOLD_PAGE,
  ...MCP_PAGES,
]

/** Every decision that the console can carry out. */
export const ACTIONS: readonly Action[] = [...IMPORT_ACTIONS, ...SCHEDULE_ACTIONS, ...HOLD_ACTIONS]

/** Every question that takes a form. */
export const LOOKUPS: readonly Lookup[] = [recipientLookup]
