import { ACCOUNT_OF_PAGE, idAfter, list, partOf, SINCE_AND_UNTIL } from '#src/db/list.ts'
import { DELIVERIES, EVENT_KINDS } from '#src/model/event.ts'
import type { NotifySettings } from '#src/model/settings.ts'
import type { ListedEvent } from './list-events.ts'

/** The events, the newest first, with the outcome of their messages, which depends on the settings. */
export function eventListOf({ kinds: sentKinds, webhook }: Pick<NotifySettings, 'webhook' | 'kinds'>) {
  return list({
    caption: 'Events, the newest first',
    filters: {
      account: ACCOUNT_OF_PAGE,
      kind: { kind: 'choice', values: EVENT_KINDS, label: 'Event' },
      delivery: { kind: 'choice', values: DELIVERIES, label: 'Message' },
      ...SINCE_AND_UNTIL,
    },
    order: ['id'],
    async load(pool, { filter: { delivery, ...filter }, after, limit }) {
      const { listEvents } = await import('./list-events.ts')
      const deliveries = delivery && [delivery]
      const wanted = { ...filter, deliveries, sentKinds, before: idAfter(after) }
      return partOf(await listEvents(pool, limit + 1, wanted), limit, ({ event }) => [event])
    },
    columns: (row: ListedEvent) => ({
      event: row.event,
      kind: row.kind,
      state: row.state,
      account: row.account,
      about: row.subject,
      at: row.at,
      message: deliveryInWords(row, webhook !== null),
      attempts: row.attempts,
      failure: row.failure,
    }),
    none: 'No events.',
    noneMatches: 'No event matches.',
    json: ({ data: _, ...row }) => row,
  })
}

/** The outcome of a message, in words. Without a webhook, a message that was never sent does not wait. */
export function deliveryInWords(
  { delivery, attempts }: Pick<ListedEvent, 'delivery' | 'attempts'>,
  hasWebhook: boolean,
): string {
  const isNotSent = !hasWebhook && delivery === 'waiting' && attempts === 0
  return isNotSent ? 'not sent: no webhook is set' : delivery
}
