import { ACCOUNT_OF_PAGE, idAfter, list, partOf, SINCE_AND_UNTIL } from '#src/db/list.ts'
import { DELIVERIES, EVENT_KINDS } from '#src/model/event.ts'
import type { ListedEvent } from './list-events.ts'

/** The events, the newest first, with the outcome of their messages. */
export function eventListOf({ receivers }: { readonly receivers: readonly unknown[] }) {
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
      const wanted = { ...filter, deliveries, before: idAfter(after) }
      return partOf(await listEvents(pool, limit + 1, wanted), limit, ({ event }) => [event])
    },
    columns: {
      event: row => row.event,
      kind: row => row.kind,
      state: row => row.state,
      account: row => row.account,
      about: row => row.subject,
      at: row => row.at,
      message: row => messagesInWords(row, receivers.length > 0),
      attempts: row => Math.max(0, ...row.deliveries.map(({ attempts }) => attempts)),
      failure: row =>
        row.deliveries.flatMap(({ delivery, failure }) =>
          delivery === 'delivered' ? [] : (failure ?? []),
        )[0] ?? null,
    },
    none: 'No events.',
    noneMatches: 'No event matches.',
    json: ({ data: _, ...row }) => row,
  })
}

/** The outcome of its messages, in words: `ops: delivered, chat: waiting`. */
export function messagesInWords(
  { delivery, deliveries }: Pick<ListedEvent, 'delivery' | 'deliveries'>,
  hasReceivers: boolean,
): string {
  if (deliveries.length > 0) return deliveries.map(one => `${one.receiver}: ${one.delivery}`).join(', ')
  return !hasReceivers && delivery === 'waiting' ? 'waiting: no receiver is set' : delivery
}
