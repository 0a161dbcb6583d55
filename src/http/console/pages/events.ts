import { counted } from '#src/model/counted.ts'
import type { DeliveryState, EventState } from '#src/model/event.ts'
import { deliveryInWords, eventListOf } from '#src/notify/events-list.ts'
import {
  countUndelivered,
  type ListedEvent,
  type Undelivered,
  undeliveredInWords,
} from '#src/notify/list-events.ts'
import { sentenceOf } from '#src/notify/message.ts'
import { type Html, html } from '../html.ts'
import { listPage } from '../parts/list-page.ts'
import { runLink } from '../parts/runs.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { badge, foreign, sentence, type Tone, time } from '../parts/values.ts'

const PATH = '/ledger/events'

export const events = listPage({
  path: PATH,
  section: 'ledger',
  title: 'Notifications',
  list: ({ target: { notify } }) => eventListOf(notify),
  async beside({ reader, target: { timezone, notify } }, { isNarrowed }) {
    const hasWebhook = notify.webhook !== null
    return {
      above: html`${ledgerTabs(PATH)}
${hasWebhook ? null : NO_WEBHOOK}
${notice(await countUndelivered(reader, notify.kinds))}`,
      columns: [
        'at',
        {
          head: 'Event',
          cell: ({ kind, state }) => html`<span>${kind} ${badge(TONES[state], state)}</span>`,
        },
        { head: 'What', cell: event => html`<span>${sentence(sentenceOf(event))}${placesOf(event)}</span>` },
        { head: 'Message', cell: event => messageOf(event, timezone, hasWebhook) },
      ],
      empty: isNarrowed ? null : NONE_YET,
    }
  },
})

const NO_WEBHOOK = html`<p class="notice">No webhook is set, so Ferry sends no notifications. Set <code>FERRY_WEBHOOK_URL</code>, then try it with <code>ferry notify test</code>.</p>`

function notice(undelivered: Undelivered): Html | null {
  const words = undeliveredInWords(undelivered)
  if (words === null) return null
  return html`<p class="${undelivered.dead > 0 ? 'problem' : 'notice warn'}">In the last week ${words}. <code>ferry notify test</code> tries the receiver. A message that was not accepted within a day is dead: Ferry does not send it again.</p>`
}

const NONE_YET = html`No events yet. <code>FERRY_WEBHOOK_URL</code> sets the receiver, and <code>ferry notify test</code> tries it.`

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
