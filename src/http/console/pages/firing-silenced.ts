import { z } from 'zod'
import { type AfterSilenced, loadSilenced, type SilencedRule } from '#src/reports/firing/silenced.ts'
import { type Html, html } from '../html.ts'
import type { Page } from '../page.ts'
import { inventoryLink } from '../parts/changes.ts'
import { changesAt } from '../parts/changes-at.ts'
import { firingTabs, periodOf } from '../parts/firing-tabs.ts'
import { CursorInstant, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, duration, foreign, type Tone, time } from '../parts/values.ts'

const PATH = '/firing/silenced'

const Cursor: z.ZodType<AfterSilenced> = z.tuple([
  CursorInstant,
  z
    .string()
    .max(3_000)
    .regex(/^[^\0]*$/),
  z.string().regex(/^\d{1,20}$/),
])

const TONES: Readonly<Record<SilencedRule['what'], Tone>> = {
  disabled: 'warn',
  removed: 'bad',
  edited: 'quiet',
}

/** Who disabled, removed or edited rules while they fired. */
export const firingSilenced: Page = {
  path: PATH,
  section: 'firing',
  access: 'read',
  async render(request) {
    const { query, reader, target } = request
    const period = periodOf(PATH, query)
    const rows = await loadSilenced(reader, period, readCursor(query, Cursor), PAGE_ROWS + 1)
    const shown = rows.slice(0, PAGE_ROWS)
    const last = rows.length > PAGE_ROWS ? shown.at(-1) : undefined
    return {
      title: 'Silenced while firing',
      body: html`${firingTabs(PATH, request)}
<p>Rules that were disabled, removed or edited while they fired, or within an hour after. Not each of them was meant to silence an alert.</p>
${table(
  `The last ${period.words}, the newest first`,
  columnsIn(target.timezone),
  shown,
  html`No rule was disabled, removed or edited while it fired, or within an hour after.`,
)}
${pager(PATH, query, last ? writeCursor([last.exactAt, last.account, last.id]) : null)}`,
    }
  },
}

function columnsIn(timezone: string): Column<SilencedRule>[] {
  return [
    {
      head: 'When',
      cell: ({ account, at }) => html`<a href="${changesAt(account, at)}">${time(at, timezone)}</a>`,
    },
    { head: 'What', cell: whatOf },
    { head: 'Rule', cell: rule => inventoryLink({ ...rule, resource: 'alert-rules' }) },
    { head: 'Who', cell: ({ by }) => foreign(by, 'not known') },
    { head: 'Episode', cell: rule => episodeOf(rule, timezone) },
  ]
}

function whatOf({ what, fields }: SilencedRule): Html {
  const named = fields?.filter(field => field !== 'enabled' || what !== 'disabled') ?? []
  return html`<span>${badge(TONES[what], what)}${named.length > 0 ? html`<br><small>${named.join(', ')}</small>` : null}</span>`
}

function episodeOf({ at, began, ended, isWhileFiring }: SilencedRule, timezone: string): Html {
  const before = duration(at.getTime() - began.getTime())
  const when = isWhileFiring
    ? html`had been firing for ${before}`
    : html`had ended ${duration(at.getTime() - (ended ?? at).getTime())} before`
  return html`<span>began ${time(began, timezone)}<br><small>${when}${ended === null ? html`, fires still` : null}</small></span>`
}
