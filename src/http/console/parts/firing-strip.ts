import type { PagedChange } from '#src/inventory/history/changes.ts'
import { fieldsFrom } from '#src/inventory/history/differences.ts'
import { counted } from '#src/model/counted.ts'
import { firstOf } from '#src/model/cut-text.ts'
import type { Blind } from '#src/reports/blind.ts'
import type { RuleEvent } from '#src/reports/firing/episodes.ts'
import { ganttChart, type Mark, type MarkKind } from '../charts/gantt.ts'
import type { TimeSpan } from '../charts/time-axis.ts'
import { type Html, html } from '../html.ts'
import { table } from './table.ts'
import type { Moment, Timeline } from './timeline.ts'
import { inZone, lasted, time } from './values.ts'

/** The last days before now, and the times in them of which nothing is known. */
type Lately = { readonly span: TimeSpan; readonly blind: readonly Blind[] }

/**
 * The firings of a page of a time line as bars, with its changes marked on them, but no first reading. The first page has `lately`: if
 * something fired then, only these days are drawn, with what is not known of them. Null: it has no firing.
 */
export function firingStrip({ moments }: Timeline, lately: Lately | null, timezone: string): Html | null {
  const all = moments.filter(moment => moment.what === 'firing')
  const [newest, oldest] = [moments[0], moments.at(-1)]
  if (all.length === 0 || !newest || !oldest) return null
  const page = { from: instantOf(oldest), to: lately ? lately.span.to : endOf(newest) }
  const firedLately = lately && all.some(({ ended }) => ended === null || ended > lately.span.from)
  const span = firedLately && page.from < lately.span.from ? lately.span : page
  const firings = all.filter(({ ended }) => ended === null || ended >= span.from)
  const events = moments
    .flatMap(moment => (moment.what === 'change' ? eventsOf(moment) : []))
    .filter(event => event.at >= span.from)
  const blind = barsOf(firedLately ? lately.blind : [], span)
  const words = [counted(firings.length, 'firing'), counted(events.length, 'change')]
  const summary = `${words.join(' and ')}${blind.length > 0 ? `, ${counted(blind.length, 'time')} not known` : ''}`
  return ganttChart({
    id: 'firings',
    title: 'When it fired, and when it changed',
    unit: 'a bar is a firing',
    span,
    timezone,
    rows: [
      {
        label: html`<span class="quiet">${summary}</span>`,
        summary,
        bars: firings.map(({ began, ended }) => ({ from: began, to: ended })),
        blind,
        marks: events.map(event => markOf(event, timezone)),
      },
    ],
    numbers: table(
      'Firings',
      [
        { head: 'Began', cell: ({ began }) => time(began, timezone) },
        { head: 'Ended', cell: ({ ended }) => time(ended, timezone, 'still firing') },
        { head: 'Lasted', cell: ({ began, ended }) => lasted(began, ended) },
      ],
      firings,
      html`None.`,
    ),
  })
}

/** Times of which nothing is known, as they cover the bars. */
export function barsOf(blind: readonly Blind[], { from }: TimeSpan): { from: Date; to: Date | null }[] {
  return blind.map(({ since, until }) => ({ from: since ?? from, to: until }))
}

function instantOf(moment: Moment): Date {
  return moment.what === 'change' ? moment.at : moment.began
}

function endOf(moment: Moment): Date {
  return moment.what === 'change' ? moment.at : (moment.ended ?? moment.began)
}

/** A first reading is no event: the rule was there before. */
function eventsOf({ at, change, by, after }: PagedChange): RuleEvent[] {
  if (change === 'first reading') return []
  const enabled = change === 'changed' ? fieldsFrom(after)?.enabled : null
  return [{ at, change, enabled: typeof enabled === 'boolean' ? enabled : null, by }]
}

/** What happened to a rule, as a mark on its bar. */
export function markOf(event: RuleEvent, timezone: string): Mark {
  return {
    at: event.at,
    kind: kindOf(event),
    words: `${isolated(eventInWords(event))}, ${inZone(event.at, timezone)}`,
  }
}

function kindOf({ change, enabled }: RuleEvent): MarkKind {
  if (change === 'removed' || (change === 'changed' && enabled === false)) return 'off'
  return change === 'changed' && enabled === null ? 'changed' : 'on'
}

const MAX_NAME_CHARACTERS = 100

/** `disabled by Ada`. */
export function eventInWords({ change, enabled, by }: RuleEvent): string {
  const what =
    change === 'changed' ? (enabled === null ? 'edited' : enabled ? 'enabled' : 'disabled') : change
  return by === null ? what : `${what} by ${firstOf(by, MAX_NAME_CHARACTERS)}`
}

/** Text of others between two marks of Unicode that keep it from turning the text around it: a tooltip has no elements. */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`
}
