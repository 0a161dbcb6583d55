import { fieldsFrom } from '#src/inventory/differences.ts'
import { counted } from '#src/model/counted.ts'
import { firstOf } from '#src/model/cut-text.ts'
import { ganttChart, type MarkKind } from '../charts/gantt.ts'
import { type Html, html } from '../html.ts'
import { table } from './table.ts'
import type { Moment, Timeline } from './timeline.ts'
import { duration, time } from './values.ts'

/** The firings of a time line as bars, with its changes marked on them. Null: it has no firing. */
export function firingStrip({ moments }: Timeline, isFirstPage: boolean, timezone: string): Html | null {
  const firings = moments.filter(moment => moment.what === 'firing')
  const changes = moments.filter(moment => moment.what === 'change')
  const [newest, oldest] = [moments[0], moments.at(-1)]
  if (firings.length === 0 || !newest || !oldest) return null
  const span = { from: instantOf(oldest), to: isFirstPage ? new Date() : endOf(newest) }
  const summary = `${counted(firings.length, 'firing')} and ${counted(changes.length, 'change')}`
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
        marks: changes.map(({ at, change, by, after }) => ({
          at,
          kind: markOf(change, after),
          words: by === null ? change : `${change} by ${isolated(by)}`,
        })),
      },
    ],
    numbers: table(
      'Firings',
      [
        { head: 'Began', cell: ({ began }) => time(began, timezone) },
        { head: 'Ended', cell: ({ ended }) => time(ended, timezone, 'still fires') },
        { head: 'Lasted', cell: ({ began, ended }) => ended && duration(ended.getTime() - began.getTime()) },
      ],
      firings,
      html`None.`,
    ),
  })
}

const MAX_NAME_CHARACTERS = 100

/** A name in a tooltip, which has no elements: between two marks of Unicode it cannot turn the text around it. */
function isolated(name: string): string {
  return `\u2068${firstOf(name, MAX_NAME_CHARACTERS)}\u2069`
}

function instantOf(moment: Moment): Date {
  return moment.what === 'change' ? moment.at : moment.began
}

function endOf(moment: Moment): Date {
  return moment.what === 'change' ? moment.at : (moment.ended ?? moment.began)
}

function markOf(change: string, after: string | null): MarkKind {
  const enabled = change === 'changed' ? fieldsFrom(after)?.enabled : undefined
  if (change === 'removed' || enabled === false) return 'off'
  return change === 'changed' && enabled !== true ? 'changed' : 'on'
}
