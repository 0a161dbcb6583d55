import { idAfter, list, partOf } from '#src/db/list.ts'
import { type HoldRow, listHolds } from '#src/inventory/holds/list-holds.ts'
import { type Html, html } from '../html.ts'
import { columnsOf, listPage } from '../parts/list-page.ts'
import { table } from '../parts/table.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { ago, badge, type Tone } from '../parts/values.ts'

export const HOLDS = '/ledger/holds'

/** An inventory has at most one open hold, so there are few. */
const MAX_OPEN = 200

/** The holds that have ended, the newest first. */
const ENDED_HOLDS = list({
  caption: 'Ended',
  filters: {},
  order: ['id'],
  async load(pool, { after, limit }) {
    const found = await listHolds(pool, 'ended', limit + 1, idAfter(after) ?? null)
    return partOf(found, limit, ({ id }) => [`${id}`])
  },
  columns: {
    account: hold => hold.account,
    inventory: hold => hold.resource,
    rows: hold => hold.rows,
    ended: hold => hold.endedAt,
    outcome: hold => hold.outcome,
    run: hold => hold.lastRun,
  },
  none: 'No hold has ended yet.',
})

const IDENTITY = ['account', 'inventory', 'rows'] as const

export const holds = listPage({
  path: HOLDS,
  section: 'ledger',
  title: 'Holds',
  list: () => ENDED_HOLDS,
  async beside({ reader, target: { timezone } }) {
    const open = await listHolds(reader, 'open', MAX_OPEN)
    return {
      refreshEveryMs: 30_000,
      above: html`${ledgerTabs(HOLDS)}
<p>When too many rows are missing from a listing, Ferry keeps them all until a person decides.</p>
${table(
  'Open holds',
  [
    ...columnsOf(ENDED_HOLDS, IDENTITY, open, timezone),
    { head: 'Since', cell: hold => ago(hold.openedAt, timezone) },
    { head: 'Decide', cell: hold => html`<a href="${pathOf(hold)}">Review</a>` },
  ],
  open,
  html`No removals wait for a decision.`,
)}`,
      columns: [
        ...IDENTITY,
        { head: 'Ended', cell: hold => ago(hold.endedAt, timezone) },
        { head: 'Outcome', cell: outcomeOf },
        { head: 'Details', cell: hold => html`<a href="${pathOf(hold)}">Run ${hold.lastRun}</a>` },
      ],
    }
  },
})

/** The page of a hold: that of the last run that found the rows gone. */
export function pathOf({ lastRun }: Pick<HoldRow, 'lastRun'>): string {
  return `${HOLDS}/${lastRun}`
}

/** What became of the rows, with the decision. */
const OUTCOMES: Readonly<Record<NonNullable<HoldRow['outcome']>, readonly [Tone, string]>> = {
  approved: ['bad', 'approved: removed'],
  rejected: ['good', 'rejected: kept'],
  voided: ['quiet', 'voided'],
}

/** How a hold ended, or that it is open. */
export function outcomeOf({ outcome, account, resource }: HoldRow): Html {
  const announce = `Hold of ${resource} of ${account}`
  return outcome === null ? badge('warn', 'open', announce) : badge(...OUTCOMES[outcome], announce)
}
