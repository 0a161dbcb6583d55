import { counted } from '#src/model/counted.ts'
import { firstOf } from '#src/model/cut-text.ts'
import type { Around, AroundRow } from '#src/reports/around.ts'
import { kindInWords } from '#src/reports/around.ts'
import { type GanttRow, ganttChart, type Mark, type MarkKind } from '../charts/gantt.ts'
import type { TimeSpan } from '../charts/time-axis.ts'
import { type Html, html } from '../html.ts'
import { inventoryLink } from './changes.ts'
import { isolated } from './firing-strip.ts'
import { table } from './table.ts'
import { foreign, inZone, time } from './values.ts'

/** The rules drawn of those that were firing: the longest. */
const MAX_FIRING = 8
const MAX_NAME = 60

/**
 * A time with its moment: what changed in each inventory and when nothing was read of it, then the rules that were firing. Null if
 * there is nothing to draw.
 */
export function lensStrip(
  { rows, firing }: Around,
  span: TimeSpan,
  moment: Date,
  timezone: string,
): Html | null {
  const seen = rows.filter(({ inventory }) => inventory !== null)
  const inventories = [...Map.groupBy(seen, ({ account, inventory }) => `${inventory} of ${account}`)]
  const blind = seen.filter(({ kind }) => kind === 'blind')
  // Nothing is drawn for what is still to come.
  const until = {
    from: span.from,
    to: new Date(Math.min(span.to.getTime(), Math.max(Date.now(), moment.getTime()))),
  }
  const blindRules = (account: string) =>
    blind.filter(row => row.account === account && row.inventory === 'alert-rules')
  const drawn: GanttRow[] = [
    ...inventories.map(([name, its]) => inventoryRow(name, its, span, timezone)),
    ...firing.slice(0, MAX_FIRING).map(({ began, ended, known, ...rule }) => ({
      label: inventoryLink({ ...rule, resource: 'alert-rules' }),
      summary: `${isolated(firstOf(rule.name, MAX_NAME))} fired`,
      bars: [{ from: began, to: ended }],
      blind: barsOf(blindRules(rule.account), span),
      marks: [],
    })),
  ]
  if (drawn.length === 0) return null
  return ganttChart({
    id: 'lens',
    title: 'What is known of this time',
    unit: `a bar is a firing${firing.length > MAX_FIRING ? `, the ${MAX_FIRING} longest of ${firing.length}` : ''}, the line is the moment`,
    span: until,
    moment,
    timezone,
    rows: drawn,
    numbers: table(
      'Times that are not known',
      [
        { head: 'Account', cell: ({ account }) => foreign(account) },
        { head: 'Inventory', cell: ({ inventory }) => inventory },
        { head: 'From', cell: ({ since }) => time(since, timezone, 'ever') },
        { head: 'To', cell: ({ observedAt }) => time(observedAt, timezone, 'now') },
      ],
      blind,
      html`None: every inventory was read within its freshness target.`,
    ),
  })
}

function inventoryRow(name: string, rows: readonly AroundRow[], span: TimeSpan, timezone: string): GanttRow {
  const blind = rows.filter(({ kind }) => kind === 'blind')
  const marks = rows.flatMap(row => markOf(row, timezone))
  const words = [
    ...(blind.length > 0 ? [`${counted(blind.length, 'time')} not known`] : []),
    ...(marks.length > 0 ? [counted(marks.length, 'change')] : []),
  ]
  const summary = words.join(', ') || 'nothing changed'
  return {
    label: html`<bdi>${name}</bdi> <span class="quiet">${summary}</span>`,
    summary: `${isolated(name)}: ${summary}`,
    bars: [],
    blind: barsOf(blind, span),
    marks,
  }
}

function barsOf(blind: readonly AroundRow[], { from }: TimeSpan): NonNullable<GanttRow['blind']> {
  return blind.map(({ since, observedAt }) => ({ from: since ?? from, to: observedAt }))
}

function markOf(row: AroundRow, timezone: string): Mark[] {
  const { observedAt: at, name } = row
  const kind = kindOf(row)
  if (kind === null || at === null) return []
  const words = `${kindInWords(row)}: ${isolated(firstOf(name ?? row.id ?? '', MAX_NAME))}, ${inZone(at, timezone)}`
  return [{ at, kind, words }]
}

/** What began or stopped firing is a bar, or none. */
function kindOf({ kind }: AroundRow): MarkKind | null {
  if (/\.(added|returned|enabled)$/.test(kind)) return 'on'
  if (/\.(removed|disabled)$/.test(kind)) return 'off'
  return kind.endsWith('.changed') ? 'changed' : null
}
