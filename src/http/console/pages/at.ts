import { z } from 'zod'
import { shortFields } from '#src/inventory/history/change-row.ts'
import { factsInWords, fieldsFrom } from '#src/inventory/history/differences.ts'
import { loadHistoryStart } from '#src/inventory/history/history-start.ts'
import { suggest } from '#src/inventory/history/known-words.ts'
import { counted } from '#src/model/counted.ts'
import { firstOf } from '#src/model/cut-text.ts'
import { duration } from '#src/model/duration.ts'
import { parseInstant } from '#src/model/instant.ts'
import { MAX_UINT64 } from '#src/model/uint64.ts'
import {
  type Around,
  type AroundRow,
  blindAt,
  type FiringThen,
  firingInWords,
  isNothing,
  kindInWords,
  loadAround,
} from '#src/reports/around.ts'
import type { TimeSpan } from '../charts/time-axis.ts'
import { type Html, html } from '../html.ts'
import { href, idIn, type Page, parsedQuery } from '../page.ts'
import { inventoryLink } from '../parts/changes.ts'
import { differencesList, type Room } from '../parts/differences.ts'
import { accountFilter, filters } from '../parts/filters.ts'
import { runsNote } from '../parts/history-note.ts'
import { lensStrip } from '../parts/lens-strip.ts'
import { suggestions } from '../parts/list-page.ts'
import { runLink } from '../parts/runs.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, enabledBadge, foreign, plainTime, type Tone, time } from '../parts/values.ts'

/** A page shows so many rows of each table; the filters find the others. */
const MAX_ROWS = 80
/** With the times in which nothing was read. */
const MAX_TABLE_ROWS = 120
/** The most of these that the moment is in and that are named; the others are counted. */
const MAX_BLIND_NAMED = 20
const MAX_FIELDS = 8
/** Of the name of a tool, and of what it says. */
const MAX_CHARACTERS = 100

const SPANS = { '15': '15 minutes', '60': 'one hour', '360': '6 hours', '1440': 'one day' } as const

const Asked = z.object({
  minutes: z.enum(Object.keys(SPANS) as (keyof typeof SPANS)[]).default('60'),
  account: z.string().max(200).optional(),
  folder: idIn('a folder', MAX_UINT64).optional(),
  team: z.string().max(200).optional(),
  words: z.string().max(500).optional(),
})

/** What happened around an instant, what was firing at it, and what is not known of it. */
export const at: Page = {
  path: '/at/:instant',
  section: 'changes',
  access: 'read',
  async render({ path, params, query, reader, target: { accounts, timezone } }) {
    const instant = parseInstant(params.instant ?? '', timezone)
    if (!instant) return null
    const { minutes, ...narrowed } = parsedQuery(query, Asked)
    const spanMs = Number(minutes) * 60_000
    const from = new Date(instant.getTime() - spanMs)
    const startsAt = await loadHistoryStart(reader)
    const isKept = startsAt === null || from >= startsAt
    const isFuture = instant.getTime() > Date.now()
    const around =
      isKept && !isFuture
        ? await loadAround(reader, { at: instant, spanMs, ...narrowed }, MAX_ROWS, shortFields)
        : null
    const isBlind = around?.rows.some(({ kind }) => kind === 'blind')
    const suggested = around && isNothing(around) ? await suggest(reader, 'alert-rules', narrowed) : []
    return {
      title: `At ${instant
        .toISOString()
        .replace('T', ' ')
        .replace(/\.?0*Z$/, 'Z')}`,
      heading: html`At ${plainTime(instant, timezone)}`,
      body: html`<p>What was observed ${SPANS[minutes]} before and after. ${stepLink(query, instant, -spanMs, '← earlier')} ${stepLink(query, instant, spanMs, 'later →')}</p>
${filters(path, query, [
  { name: 'minutes', label: 'Before and after', kind: 'choice', choices: SPANS, any: SPANS['60'] },
  accountFilter(accounts, query),
  { name: 'folder', label: 'Folder (of rules)', kind: 'text', hint: 'its number' },
  { name: 'team', label: 'Team (of rules)', kind: 'text' },
  { name: 'words', label: 'Words', kind: 'text', hint: "an alert's name, a service" },
])}
${suggestions(suggested)}
${isBlind ? await runsNote(reader, from, timezone) : null}
${around ? body(around, { from, to: new Date(instant.getTime() + spanMs) }, instant, timezone) : isFuture ? FUTURE : html`<p class="notice warn">The history starts at ${time(startsAt, timezone)}: what ended before was removed, as <code>FERRY_KEEP_VERSIONS</code> says.</p>`}`,
    }
  },
}

const FUTURE = html`<p class="notice warn">This moment is in the future: nothing is known of it. <a href="/">Now</a> shows what is known.</p>`

/** The same page of another instant. */
function stepLink(query: URLSearchParams, instant: Date, byMs: number, words: string): Html {
  const path = `/at/${new Date(instant.getTime() + byMs).toISOString()}`
  return html`<a href="${href(path, Object.fromEntries(query))}">${words}</a>`
}

function body(around: Around, span: TimeSpan, instant: Date, timezone: string): Html {
  const { firing } = around
  const rows = around.rows.slice(0, MAX_TABLE_ROWS)
  const isCut = around.isCut || rows.length < around.rows.length
  const blind = blindAt(around, instant)
  const rest = blind.length - MAX_BLIND_NAMED
  return html`${blind.slice(0, MAX_BLIND_NAMED).map(row => html`<p class="notice warn">Nothing is known of this moment: ${row.inventory} of account ${foreign(row.account)} were not read completely from ${time(row.since, timezone, 'ever')} to ${time(row.observedAt, timezone, 'now')}${errorOf(row)}.</p>`)}
${rest > 0 ? html`<p class="notice warn">Nor of ${counted(rest, 'other inventory', 'other inventories')}.</p>` : null}
${lensStrip(around, span, instant, timezone)}
${table('Firing at that moment, the longest first', firingColumns(timezone), firing, html`No rule that matches was firing.`)}
${table('What happened, in the order in which it was observed', columns(timezone), rows, html`Nothing that matches happened. Every reading of that time found the same.`)}
${isCut ? html`<p class="notice">There is more: not all rows are shown. A shorter time, a folder, a team or words show the others.</p>` : null}`
}

function errorOf({ after }: AroundRow): string {
  const code = fieldsFrom(after)?.error_code
  return code ? ` (${code})` : ''
}

function firingColumns(timezone: string): Column<FiringThen>[] {
  return [
    { head: 'Rule', cell: rule => inventoryLink({ ...rule, resource: 'alert-rules' }) },
    {
      head: 'For',
      cell: ({ firedForMs }) => (firedForMs === null ? null : duration(firedForMs)),
    },
    { head: 'Began', cell: ({ began }) => time(began, timezone) },
    { head: 'Ended', cell: ({ ended }) => time(ended, timezone, 'still firing') },
    { head: 'Team', cell: ({ team }) => foreign(team) },
    {
      head: 'State',
      cell: rule =>
        html`${badge(rule.known ? 'bad' : 'quiet', firingInWords(rule))} ${rule.enabled ? null : enabledBadge(false)}`,
    },
  ]
}

function columns(timezone: string): Column<AroundRow>[] {
  // Names take the rest of what a page may hold.
  const room: Room = { left: 50_000 }
  return [
    {
      head: 'Not before',
      cell: ({ since, kind }) => (isExact(kind) ? null : time(since, timezone, 'not known')),
    },
    {
      head: 'Observed',
      cell: ({ observedAt, runId }) =>
        html`<span>${time(observedAt, timezone, 'now')}${runId === null ? null : html`<br><small>${runLink(runId, `run ${runId}`)}</small>`}</span>`,
    },
    { head: 'What', cell: row => badge(toneOf(row), kindInWords(row)) },
    { head: 'About', cell: subjectOf },
    { head: 'Details', cell: row => detailOf(row, room) },
    {
      head: 'By',
      cell: ({ who }) => (who === null ? null : html`<span class="person">${foreign(who)}</span>`),
    },
  ]
}

/** Ferry did it, or a person in Ferry: that is known to the instant. */
function isExact(kind: AroundRow['kind']): boolean {
  return kind === 'decision' || kind.startsWith('import.')
}

function toneOf({ kind, whileFiring }: AroundRow): Tone {
  if (whileFiring && (kind === 'rule.disabled' || kind === 'rule.removed')) return 'bad'
  if (kind === 'rule.fired' || kind === 'blind') return 'bad'
  if (kind === 'rule.disabled' || kind === 'removals.held' || /\.(removed|returned)$/.test(kind))
    return 'warn'
  return kind === 'rule.cleared' || kind === 'rule.enabled' ? 'good' : 'quiet'
}

function subjectOf({ kind, inventory, account, id, name, before, after }: AroundRow): Html {
  if (inventory === null) {
    const what = kind === 'decision' ? foreign(name) : html`<a href="/imports/${id}">${foreign(name)}</a>`
    return html`<span>${what}<br><small><bdi>${id}</bdi> in <bdi>${account}</bdi></small></span>`
  }
  if (id === null) return html`${inventory} of <bdi>${account}</bdi>`
  const link = inventoryLink({ resource: inventory, account, id, name })
  if (!kind.startsWith('tool.')) return link
  return html`${foreign(firstOf(`${(fieldsFrom(after) ?? fieldsFrom(before))?.tool ?? ''}`, MAX_CHARACTERS))} of ${link}`
}

function detailOf({ inventory, before, after }: AroundRow, room: Room): Html | null {
  if (inventory !== null && before !== null)
    return differencesList({ resource: inventory, before, after }, MAX_FIELDS, room)
  const facts = factsInWords(fieldsFrom(after))
  return facts === '' ? null : foreign(firstOf(facts, 2 * MAX_CHARACTERS))
}
