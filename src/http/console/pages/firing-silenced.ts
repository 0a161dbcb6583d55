import { list, partOf } from '#src/db/list.ts'
import { duration } from '#src/model/duration.ts'
import { loadSilenced, type SilencedRule } from '#src/reports/firing/silenced.ts'
import { type Html, html } from '../html.ts'
import { inventoryLink } from '../parts/changes.ts'
import { type FiringPeriod, firingTabs, periodOf } from '../parts/firing-tabs.ts'
import { historyNote } from '../parts/history-note.ts'
import { listPage } from '../parts/list-page.ts'
import { ago, badge, foreign, type Tone, time } from '../parts/values.ts'

const PATH = '/firing/silenced'

const TONES: Readonly<Record<SilencedRule['what'], Tone>> = {
  disabled: 'warn',
  removed: 'bad',
  edited: 'quiet',
}

/** Who disabled, removed or edited rules while they fired. */
function silencedListOf(period: FiringPeriod) {
  return list({
    caption: `The last ${period.words}, newest first`,
    // The tabs have the fields of both.
    filters: { hours: { kind: 'text' }, account: { kind: 'account' } },
    order: ['instant', 'text', 'number'],
    async load(pool, { after, limit }) {
      const found = await loadSilenced(pool, period, after, limit + 1)
      return partOf(found, limit, ({ exactAt, account, id }) => [exactAt, account, id])
    },
    columns: {
      when: row => row.at,
      what: row => row.what,
      rule: row => row.name,
      id: row => row.id,
      account: row => row.account,
      who: row => row.by,
      began: row => row.began,
      ended: row => row.ended,
    },
    none: 'No rule was disabled, removed or edited while it fired, or within an hour after.',
  })
}

export const firingSilenced = listPage({
  path: PATH,
  section: 'firing',
  title: 'Silenced while firing',
  list: ({ query }) => silencedListOf(periodOf(PATH, query)),
  beside: async (request, { next }) => ({
    above: html`${await firingTabs(PATH, request)}
<p>Rules that were disabled, removed or edited while firing, or within an hour after. Not every change was meant to silence an alert.</p>`,
    columns: [
      {
        head: 'When',
        cell: ({ at }) => ago(at, request.target.timezone),
      },
      { head: 'What', cell: whatOf },
      { head: 'Rule', cell: rule => inventoryLink({ ...rule, resource: 'alert-rules' }) },
      { head: 'Who', cell: ({ by }) => foreign(by, 'unknown') },
      { head: 'Episode', cell: rule => episodeOf(rule, request.target.timezone) },
    ],
    below: next
      ? null
      : await historyNote(request.reader, periodOf(PATH, request.query).since, request.target.timezone),
  }),
})

function whatOf({ what, fields }: SilencedRule): Html {
  const named = fields?.filter(field => field !== 'enabled' || what !== 'disabled') ?? []
  return html`<span>${badge(TONES[what], what)}${named.length > 0 ? html`<br><small>${named.join(', ')}</small>` : null}</span>`
}

function episodeOf({ at, began, ended, isWhileFiring }: SilencedRule, timezone: string): Html {
  const before = duration(at.getTime() - began.getTime())
  const when = isWhileFiring
    ? html`had been firing for ${before}`
    : html`had ended ${duration(at.getTime() - (ended ?? at).getTime())} before`
  return html`<span>began ${time(began, timezone)}<br><small>${when}${ended === null ? html`, still firing` : null}</small></span>`
}
