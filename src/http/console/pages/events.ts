import { counted } from '#src/model/counted.ts'
import { type DeliveryState, type EventState, MOMENTARY } from '#src/model/event.ts'
import { eventListOf, messagesInWords } from '#src/notify/events-list.ts'
import {
  countUndelivered,
  findDelivery,
  type ListedDelivery,
  type ListedEvent,
  type Undelivered,
  undeliveredInWords,
} from '#src/notify/list-events.ts'
import { pageOf } from '#src/notify/places.ts'
import { sendAgain } from '#src/notify/send-again.ts'
import { sentenceOf } from '#src/notify/sentences.ts'
import { type Html, html } from '../html.ts'
import { type Action, NotPossible, type PageRequest } from '../page.ts'
import { listPage } from '../parts/list-page.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { badge, foreign, sentence, type Tone, time } from '../parts/values.ts'

const PATH = '/ledger/events'

export const events = listPage({
  path: PATH,
  section: 'ledger',
  title: 'Notifications',
  list: ({ target: { notify } }) => eventListOf(notify),
  async beside({ reader, visitor, target: { timezone, notify } }, { isNarrowed }) {
    const names = notify.receivers.map(({ name }) => name)
    const canSend = visitor.access === 'operate' ? names : []
    return {
      above: html`${ledgerTabs(PATH)}
${names.length === 0 ? NO_RECEIVER : null}
${notice(await countUndelivered(reader, names))}`,
      columns: [
        'at',
        {
          head: 'Event',
          cell: ({ kind, state }) =>
            html`<span>${kind} ${MOMENTARY.includes(kind) ? null : badge(TONES[state], state)}</span>`,
        },
        {
          head: 'What',
          cell: event =>
            html`<span>${sentence(sentenceOf(event))} <a href="${pageOf(event)}">${placeOf(event)}</a></span>`,
        },
        { head: 'Message', cell: event => messagesOf(event, timezone, canSend, names.length > 0) },
      ],
      empty: isNarrowed ? null : NONE_YET,
    }
  },
})

const NO_RECEIVER = html`<p class="notice">No receiver is set, so Ferry sends no notifications. Set <code>FERRY_WEBHOOK_URL</code> or <code>FERRY_RECEIVERS_FILE</code>, then try it with <code>ferry notify test</code>.</p>`

function notice(undelivered: readonly Undelivered[]): Html | null {
  const words = undeliveredInWords(undelivered)
  if (words === null) return null
  const isAnyDead = undelivered.some(({ dead }) => dead > 0)
  return html`<p class="${isAnyDead ? 'problem' : 'notice warn'}">In the last week ${words}. <code>ferry notify test</code> tries the receiver. A message that was not accepted within a day is dead: Ferry does not send it again by itself.</p>`
}

const NONE_YET = html`No events yet. <code>FERRY_WEBHOOK_URL</code> sets the receiver, and <code>ferry notify test</code> tries it.`

const TONES: Readonly<Record<EventState, Tone>> = { raised: 'warn', resolved: 'good' }

/** The words of the link to what the event is about. */
function placeOf({ kind, data: { run, import: imported, rules } }: ListedEvent): string {
  if (rules === 1) return 'The rule'
  if (imported) return `Import ${imported}`
  if (kind === 'mcp.tools.changed') return 'Tools that changed'
  if (kind === 'removals.held') return 'The hold'
  if (kind === 'night.missed') return 'Snapshots'
  return run && kind !== 'inventory.late' ? `Run ${run}` : 'Now'
}

const DELIVERY_TONES: Readonly<Record<DeliveryState, Tone>> = {
  delivered: 'good',
  waiting: 'warn',
  dead: 'bad',
  'not sent': 'quiet',
}

function messagesOf(
  event: ListedEvent,
  timezone: string,
  canSend: readonly string[],
  hasReceivers: boolean,
): Html {
  const { delivery, deliveries } = event
  if (deliveries.length === 0) {
    const words = messagesInWords(event, hasReceivers)
    return html`<span>${badge(words === delivery ? DELIVERY_TONES[delivery] : 'quiet', words)}</span>`
  }
  return html`<span>${deliveries.map((one, n) => {
    const isEnded = one.delivery !== 'waiting' && canSend.includes(one.receiver)
    const again = isEnded
      ? html` <a href="${pathOf(event.event, one.receiver)}" aria-label="Send event ${event.event} again to ${one.receiver}">Send again</a>`
      : null
    return html`${n === 0 ? null : html`<br>`}<bdi>${one.receiver}</bdi> ${messageOf(one, timezone)}${again}`
  })}</span>`
}

function messageOf({ delivery, attempts, failure, retryAt }: ListedDelivery, timezone: string): Html {
  const state = badge(DELIVERY_TONES[delivery], delivery)
  if (attempts === 0) return state
  const times = counted(attempts, 'attempt')
  if (delivery === 'delivered') return html`${state} <small>${times}</small>`
  const next = delivery === 'waiting' && retryAt !== null ? html`, again at ${time(retryAt, timezone)}` : null
  return html`${state} <small>${times}${next}: ${foreign(failure)}</small>`
}

function pathOf(event: string, receiver: string): string {
  return `${PATH}/${event}/${encodeURIComponent(receiver)}/send`
}

/** Sends a message again that a receiver lost, or that is dead. */
export const SEND_AGAIN: Action = {
  path: `${PATH}/:event/:receiver/send`,
  section: 'ledger',
  backFrom: () => PATH,
  async confirm(request) {
    const found = await findNamed(request)
    if (!found) return null
    const { event, message } = found
    const { receiver, delivery } = message
    const body = html`<p>${sentence(sentenceOf(event))}</p>
<p>The message to <bdi>${receiver}</bdi> is ${delivery}. It is sent again within seconds, under the same id: a receiver that keeps ids, and has it, leaves it out.</p>`
    return { title: `Send event ${event.event} again?`, button: 'Send again', back: PATH, body }
  },
  async act(request, by) {
    const found = await findNamed(request)
    if (!found) return null
    const { account } = found.event
    const { receiver } = found.message
    const key = { event: BigInt(found.event.event), account, receiver }
    if (!(await sendAgain(request.target.pool, key, by))) {
      throw new NotPossible('The message waits to be sent anyway. Nothing was done.', PATH)
    }
    return PATH
  },
}

/** The message that the path names, if its receiver is in the settings of this worker. */
async function findNamed({ params: { event = '', receiver = '' }, reader, target }: PageRequest) {
  if (!/^\d{1,18}$/.test(event)) return null
  if (!target.notify.receivers.some(({ name }) => name === receiver)) return null
  return findDelivery(reader, BigInt(event), receiver)
}
