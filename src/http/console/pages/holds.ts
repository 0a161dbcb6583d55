import { z } from 'zod'
import { type HoldRow, listHolds } from '#src/inventory/list-holds.ts'
import { number } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import type { Page } from '../page.ts'
import { ledgerTabs } from '../parts/ledger-tabs.ts'
import { PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, foreign, type Tone, time } from '../parts/values.ts'

export const HOLDS = '/ledger/holds'

/** An inventory has at most one open hold, so there are few. */
const MAX_OPEN = 200

const Cursor = z.tuple([z.string().regex(/^\d{1,18}$/)])

const list: Page = {
  path: HOLDS,
  section: 'ledger',
  access: 'read',
  async render({ reader, target, query }) {
    const [after] = readCursor(query, Cursor) ?? []
    const [open, ended] = await Promise.all([
      listHolds(reader, 'open', MAX_OPEN),
      listHolds(reader, 'ended', PAGE_ROWS + 1, after === undefined ? null : BigInt(after)),
    ])
    const shown = ended.slice(0, PAGE_ROWS)
    const last = ended.length > PAGE_ROWS ? shown.at(-1) : undefined
    const { timezone } = target
    return {
      title: 'Holds',
      refreshEveryMs: 30_000,
      body: html`${ledgerTabs(HOLDS)}
<p>When too many rows are gone from a listing, Ferry removes none of them and asks a person. Until then they stay as they were.</p>
${table(
  'Removals that wait',
  [
    ...identity(),
    { head: 'Since', cell: hold => time(hold.openedAt, timezone) },
    { head: 'Decide', cell: hold => html`<a href="${pathOf(hold)}">See what would go</a>` },
  ],
  open,
  html`No removal waits for a decision.`,
)}
${table(
  'Ended',
  [
    ...identity(),
    { head: 'Ended', cell: hold => time(hold.endedAt, timezone) },
    { head: 'Outcome', cell: hold => outcomeOf(hold) },
    { head: 'Details', cell: hold => html`<a href="${pathOf(hold)}">Run ${hold.lastRun}</a>` },
  ],
  shown,
  html`No hold has ended yet.`,
)}
${pager(HOLDS, query, last ? writeCursor([`${last.id}`]) : null)}`,
    }
  },
}

function identity(): Column<HoldRow>[] {
  return [
    { head: 'Account', cell: hold => foreign(hold.account) },
    { head: 'Inventory', cell: hold => hold.resource },
    { head: 'Rows', isNumber: true, cell: hold => number(hold.rows) },
  ]
}

/** The page of a hold: that of the last run that found the rows gone. */
export function pathOf({ lastRun }: Pick<HoldRow, 'lastRun'>): string {
  return `${HOLDS}/${lastRun}`
}

const OUTCOMES: Readonly<Record<NonNullable<HoldRow['outcome']>, Tone>> = {
  approved: 'good',
  rejected: 'good',
  voided: 'quiet',
}

/** The word of how a hold ended, or that it is open. */
export function outcomeOf({ outcome, account, resource }: HoldRow): Html {
  const announce = `Hold of ${resource} of ${account}`
  return outcome === null ? badge('warn', 'open', announce) : badge(OUTCOMES[outcome], outcome, announce)
}

export const HOLD_PAGES: readonly Page[] = [list]
