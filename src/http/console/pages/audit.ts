import { z } from 'zod'
import { type ActRow, listActs, noActs } from '#src/db/audit.ts'
import { ACTIONS, type SubjectKind } from '#src/model/act.ts'
import { html } from '../html.ts'
import { href, type Page } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { filters, sinceAndUntil } from '../parts/filters.ts'
import { parsedSpan, zoneOf } from '../parts/instants.ts'
import { ledgerTabs } from '../parts/ledger-tabs.ts'
import { CursorId, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { foreign, time } from '../parts/values.ts'

const PATH = '/ledger/audit'

/** What people did by hand, who and why, the newest first. */
export const audit: Page = {
  path: PATH,
  section: 'ledger',
  access: 'read',
  async render({ query, reader, target: { accounts, timezone } }) {
    const zone = zoneOf(query, timezone)
    const filter = parsedSpan(query, zone, Asked)
    const after = readCursor(query, z.tuple([CursorId]))
    const before = after ? BigInt(after[0]) : undefined
    const found = await listActs(reader, PAGE_ROWS + 1, { ...filter, before })
    const shown = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? shown.at(-1) : undefined
    const body = html`${ledgerTabs(PATH)}
${filters(PATH, query, [
  accountFilter(accounts, query),
  { name: 'actor', label: 'Who', kind: 'text', hint: 'the whole name' },
  { name: 'action', label: 'Did', kind: 'choice', choices: choicesOf(ACTIONS) },
  ...sinceAndUntil(zone),
])}
${table('What people did by hand, the newest first', columns(timezone), shown, html`${noActs(filter)}`)}
${pager(PATH, query, last ? writeCursor([`${last.act}`]) : null)}`
    return { title: 'Ledger: audit', body }
  },
}

const Asked = z.object({
  account: z.string().optional(),
  actor: z.string().optional(),
  action: z.enum(ACTIONS).optional(),
})

function columns(timezone: string): readonly Column<ActRow>[] {
  return [
    { head: 'At', cell: ({ at }) => time(at, timezone) },
    {
      head: 'Who',
      cell: ({ actor }) => html`<a href="${href(PATH, { actor })}">${foreign(actor)}</a>`,
    },
    { head: 'Did', cell: ({ action }) => action },
    {
      head: 'To',
      cell: ({ subjectKind, subject }) =>
        html`<a href="${PLACES[subjectKind](subject)}">${subjectKind} ${foreign(subject)}</a>`,
    },
    { head: 'Account', cell: ({ account }) => foreign(account) },
    // A reason has a thousand characters at most: it is shown whole.
    {
      head: 'Because',
      cell: ({ because }) =>
        because === null ? foreign(null, 'no reason given') : html`<bdi>${because}</bdi>`,
    },
  ]
}

/** Where to look at what it was done to. */
const PLACES: Readonly<Record<SubjectKind, (subject: string) => string>> = {
  run: subject => `/ledger/runs/${encodeURIComponent(subject)}`,
  import: subject => `/imports/${encodeURIComponent(subject)}`,
  schedule: () => '/ledger/schedules',
}
