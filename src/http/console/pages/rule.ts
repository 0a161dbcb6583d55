import { loadFiringPage, type PagedFiring } from '#src/inventory/history/firing-page.ts'
import type { InventoryRow } from '#src/inventory/history/list-inventory.ts'
import { findHoldOfRow } from '#src/inventory/holds/list-holds.ts'
import { DAY_MS } from '#src/model/duration.ts'
import { type PlatformRule, platformUrlOf } from '#src/model/platform-url.ts'
import { listBlind } from '#src/reports/blind.ts'
import { type Html, html } from '../html.ts'
import { href, type Page } from '../page.ts'
import { pathOf, personLink } from '../parts/changes.ts'
import { firingStrip } from '../parts/firing-strip.ts'
import { historyNote } from '../parts/history-note.ts'
import { fieldFacts, loadRow, notesOn, textOf, titleOf } from '../parts/inventory-row.ts'
import { pager, readCursor } from '../parts/paging.ts'
import { facts } from '../parts/table.ts'
import { loadTimeline, TimelineCursor, timelineTable } from '../parts/timeline.ts'
import { ago, badge, foreign, ruleBadges } from '../parts/values.ts'
import { shortened } from '../parts/word-diff.ts'
import { pathOf as pathOfHold } from './holds.ts'

/** The strip of firings shows what was lately: the page has the rest as a table. */
const STRIP_DAYS = 7

/** A rule as it is, and all that happened to it: also of one that is gone. */
export const rule: Page = {
  path: '/rules/:account/:id',
  section: 'rules',
  access: 'read',
  async render({ params, query, reader, target: { timezone, platformUrl } }) {
    const after = readCursor(query, TimelineCursor)
    const row = await loadRow(reader, 'alert-rules', params)
    if (!row) return null
    const { account, id } = { account: row.account, id: `${row.id}` }
    const now = new Date()
    const isFirst = after === null
    const lately = { from: new Date(now.getTime() - STRIP_DAYS * DAY_MS), to: now }
    const inventory = { account, resource: 'alert-rules' } as const
    const [timeline, [lastFiring], blind, hold] = await Promise.all([
      loadTimeline(reader, { ...inventory, id }, after),
      loadFiringPage(reader, { account, id }, null, 1),
      isFirst ? listBlind(reader, inventory, lately) : [],
      findHoldOfRow(reader, inventory, id),
    ])
    return {
      title: titleOf(textOf(row.name), id),
      body: html`<p class="quiet">Alert rule <bdi>${id}</bdi> of account <bdi>${account}</bdi>${platformUrl === null ? null : html` · <a href="${platformUrlOf(platformUrl, idsOf(row))}" rel="noreferrer">Open in the platform</a>`}</p>
${notesOn(row, hold && pathOfHold(hold), timezone)}
${factsOf(row, lastFiring, timezone)}
${labelsOf(row.labels)}
<h2>History</h2>
${firingStrip(timeline, isFirst ? { span: lately, blind } : null, timezone)}
${timelineTable(timeline, timezone)}
${timeline.next ? null : await historyNote(reader, undefined, timezone)}
${pager(pathOf('alert-rules', account, id), query, timeline.next)}`,
    }
  },
}

function idsOf({ id, account_id, folder_id }: InventoryRow): PlatformRule {
  return { id: `${id}`, account_id: `${account_id}`, folder_id: `${folder_id}` }
}

function factsOf(row: InventoryRow, lastFiring: PagedFiring | undefined, timezone: string): Html {
  const folder = `${row.folder_id}`
  const updater = textOf(row.updater_name)
  return facts([
    ['State', stateOf(row, lastFiring)],
    ['Fired last', ago(lastFiring?.began ?? null, timezone, 'never seen')],
    ['Team', foreign(textOf(row.team))],
    ...fieldFacts('alert-rules', row, {
      folder_id: html`<a href="${href('/rules', { account: row.account, folder })}">${folder}</a>, <a href="${href('/changes', { account: row.account, folder })}">its changes</a>`,
      cron_pattern: html`<code>${shortened(`${row.cron_pattern}`, MAX_VALUE_CHARACTERS)}</code> <small>${foreign(textOf(row.timezone) || 'no time zone')}</small>`,
      updater_name: updater ? personLink(updater, by => href('/changes', { by })) : null,
    }),
    ['This version since', ago(row.valid_from as Date, timezone)],
  ])
}

const MAX_VALUE_CHARACTERS = 200

function stateOf(row: InventoryRow, lastFiring: PagedFiring | undefined): Html {
  if (row.valid_to instanceof Date) return badge('bad', 'removed')
  return html`${ruleBadges(row.enabled === true, lastFiring?.ended === null)} ${row.debug_log_enabled ? badge('warn', 'debug log') : null}`
}

/** The most labels on a page; the rest are counted. */
const MAX_LABELS = 30

function labelsOf(labels: unknown): Html {
  const pairs = Object.entries((labels ?? {}) as Readonly<Record<string, unknown>>)
  if (pairs.length === 0) return html`<p class="none">No labels.</p>`
  const rest = pairs.length - MAX_LABELS
  return html`<ul class="labels" aria-label="Labels">${pairs
    .slice(0, MAX_LABELS)
    .map(
      ([name, value]) => html`<li>${foreign(name)}: ${foreign(textOf(value))}</li>`,
    )}${rest > 0 ? html`<li>and ${rest} more</li>` : null}</ul>`
}
