import type { Action, Lookup, Page } from './page.ts'
import { at } from './pages/at.ts'
import { audit } from './pages/audit.ts'
import { calls } from './pages/calls.ts'
import { changes } from './pages/changes.ts'
import { editors } from './pages/changes-editors.ts'
import { compare } from './pages/compare.ts'
import { events, SEND_AGAIN } from './pages/events.ts'
import { firing } from './pages/firing.ts'
import { firingLoad } from './pages/firing-load.ts'
import { firingNever } from './pages/firing-never.ts'
import { firingNoisy } from './pages/firing-noisy.ts'
import { firingSilenced } from './pages/firing-silenced.ts'
import { firingWhen } from './pages/firing-when.ts'
import { hold } from './pages/hold.ts'
import { HOLD_ACTIONS } from './pages/hold-actions.ts'
import { holds } from './pages/holds.ts'
import { importPage } from './pages/import.ts'
import { IMPORT_ACTIONS } from './pages/import-actions.ts'
import { recipientLookup } from './pages/import-recipient.ts'
import { imports } from './pages/imports.ts'
import { servers, teams, tools } from './pages/mcp.ts'
import { mcpChanges } from './pages/mcp-changes.ts'
import { mcpRisks } from './pages/mcp-risks.ts'
import { now } from './pages/now.ts'
import { rule } from './pages/rule.ts'
import { rules } from './pages/rules.ts'
import { run } from './pages/run.ts'
import { runs } from './pages/runs.ts'
import { SCHEDULE_ACTIONS, schedules } from './pages/schedules.ts'
import { searchPage } from './pages/search.ts'
import { server } from './pages/server.ts'
import { snapshots } from './pages/snapshots.ts'

/** Every page, section by section. */
export const PAGES: readonly Page[] = [
  ...[now, searchPage],
  ...[rules, rule],
  ...[changes, compare, editors, at],
  ...[firing, firingNoisy, firingWhen, firingSilenced, firingNever, firingLoad],
  ...[imports, importPage],
  ...[servers, tools, mcpChanges, mcpRisks, teams, server],
  ...[runs, run, calls, schedules, snapshots, holds, hold, events, audit],
]

/** Every decision that the console can carry out. */
export const ACTIONS: readonly Action[] = [
  ...IMPORT_ACTIONS,
  ...SCHEDULE_ACTIONS,
  ...HOLD_ACTIONS,
  SEND_AGAIN,
]

/** Every question that takes a form. */
export const LOOKUPS: readonly Lookup[] = [recipientLookup]
