import type { Page } from '../page.ts'
import { audit } from './audit.ts'
import { calls } from './calls.ts'
import { events } from './events.ts'
import { run } from './run.ts'
import { runs } from './runs.ts'
import { snapshots } from './snapshots.ts'

/** What Ferry did. */
export const LEDGER_PAGES: readonly Page[] = [runs, run, calls, events, audit, snapshots]
