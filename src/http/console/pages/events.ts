import { z } from 'zod'
import { counted } from '#src/model/counted.ts'
import { EVENT_KINDS, type EventState } from '#src/model/event.ts'
import {
  countUndelivered,
  DELIVERIES,
  type DeliveryState,
  deliveryInWords,
  type EventFilter,
  type ListedEvent,
  listEvents,
  type Undelivered,
  undeliveredInWords,
} from '#src/notify/list-events.ts'
import { sentenceOf } from '#src/notify/sentences.ts'
import { type Html, html } from '../html.ts'
import type { Page } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { filters, sinceAndUntil } from '../parts/filters.ts'
import { parsedSpan, zoneOf } from '../parts/instants.ts'
import { ledgerTabs } from '../parts/ledger-tabs.ts'
import { CursorId, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { runLink } from '../parts/runs.ts'
import { sentence } from '../parts/sentence.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, foreign, type Tone, time } from '../parts/values.ts'

const PATH = '/ledger/events'

/** The events that people are told of, the newest first, and what became of their messages. */
export const events: Page = {
  path: PATH,
  section: 'ledger',
  access: 'read',
  async render({ query, reader, target: { accounts, timezone, notify } }) {
    const zone = zoneOf(query, timezone)
    const { delivery, ...rest } = parsedSpan(query, zone, Asked)
    const hasWebhook = notify.webhook !== null
    const filter: EventFilter = { ...rest, told: notify.kinds, deliveries: delivery && [delivery] }
    const after = readCursor(query, z.tuple([CursorId]))
    const [found, undelivered] = await Promise.all([
      listEvents(reader, PAGE_ROWS + 1, { ...filter, before: after ? BigInt(after[0]) : undefined }),
      countUndelivered(reader, notify.kinds),
    ])
    const shown = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? shown.at(-1) : undefined
    const body = html`${ledgerTabs(PATH)}
${hasWebhook ? null : NO_WEBHOOK}
${notice(undelivered)}
${filters(PATH, query, [
  accountFilter(accounts, query),
  { name: 'kind', label: 'Event', kind: 'choice', choices: choicesOf(EVENT_KINDS) },
  { name: 'delivery', label: 'Message', kind: 'choice', choices: choicesOf(DELIVERIES) },
  ...sinceAndUntil(zone),
])}
${table('Events, the newest first', columns(timezone, hasWebhook), shown, emptyOf(filter))}
${pager(PATH, query, last ? writeCursor([last.event]) : null)}`
    return { title: 'Ledger: notifications', body }
  },
}

const Asked = z.object({
  account: z.string().optional(),
  kind: z.enum(EVENT_KINDS).optional(),
  delivery: z.enum(DELIVERIES).optional(),
})

const NO_WEBHOOK = html`<p class="notice">Ferry tells nobody of events: no webhook is set. <code>FERRY_WEBHOOK_URL</code> sets who is told, and <code>ferry notify test</code> tries it.</p>`

function notice(undelivered: Undelivered): Html | null {
  const words = undeliveredInWords(undelivered)
  if (words === null) return null
  return html`<p class="${undelivered.dead > 0 ? 'problem' : 'notice warn'}">In the last week ${words}. <code>ferry notify test</code> tries the receiver. A message that nobody accepted within a day is dead: it is sent no more.</p>`
}

function columns(timezone: string, hasWebhook: boolean): readonly Column<ListedEvent>[] {
  return [
    { head: 'At', cell: ({ at }) => time(at, timezone) },
    { head: 'Event', cell: ({ kind, state }) => html`<span>${kind} ${badge(TONES[state], state)}</span>` },
    {
      head: 'What',
      cell: event => html`<span>${sentence(sentenceOf(event))}${placesOf(event)}</span>`,
    },
    { head: 'Message', cell: event => messageOf(event, timezone, hasWebhook) },
  ]
}

const TONES: Readonly<Record<EventState, Tone>> = { raised: 'warn', resolved: 'good' }

/** Links to what the event is about. */
function placesOf({ kind, data: { run, import: imported } }: ListedEvent): readonly Html[] {
  const places: Html[] = []
  if (typeof run === 'string' && run !== '') places.push(html` ${runLink(run, `Run ${run}`)}`)
  if (typeof imported === 'string' && imported !== '') {
    places.push(html` <a href="/imports/${encodeURIComponent(imported)}">Import ${imported}</a>`)
  }
  if (kind === 'mcp.tools.changed') places.push(html` <a href="/mcp/changes">Tools that changed</a>`)
  if (kind === 'removals.held') places.push(html` <a href="/ledger/holds">Holds</a>`)
  if (kind === 'night.missed') places.push(html` <a href="/ledger/snapshots">Snapshots</a>`)
  return places
}

const DELIVERY_TONES: Readonly<Record<DeliveryState, Tone>> = {
  delivered: 'good',
  waiting: 'warn',
  dead: 'bad',
  'not sent': 'quiet',
}

function messageOf(event: ListedEvent, timezone: string, hasWebhook: boolean): Html {
  const { delivery, attempts, failure, retryAt } = event
  const words = deliveryInWords(event, hasWebhook)
  const state = badge(words === delivery ? DELIVERY_TONES[delivery] : 'quiet', words)
  if (attempts === 0) return html`<span>${state}</span>`
  const times = counted(attempts, 'attempt')
  if (delivery === 'delivered') return html`<span>${state} <small>${times}</small></span>`
  const isRetried = hasWebhook && delivery === 'waiting' && retryAt !== null
  const next = isRetried ? html`, again at ${time(retryAt, timezone)}` : null
  return html`<span>${state} <small>${times}${next}: ${foreign(failure)}</small></span>`
}

function emptyOf({ account, kind, deliveries, since, until }: EventFilter): Html {
  const isNarrowed = [account, kind, deliveries, since, until].some(filter => filter !== undefined)
  if (isNarrowed) return html`No event matches.`
  return html`Nothing has happened that people are told of. <code>FERRY_WEBHOOK_URL</code> sets who is told, and <code>ferry notify test</code> tries it.`
}
