import type { PagedSnapshot } from '#src/inventory/history/snapshot-page.ts'
import { type Html, html } from '../html.ts'
import { accountFilter, fieldOf, instantField, select } from './filters.ts'
import { inZone } from './values.ts'

const PATH = '/changes/compare'

/** Two forms: one chooses two nights, the other two moments. They hold what the address says. */
export function compareForms({
  query,
  nights,
  accounts,
  timezone,
}: {
  readonly query: URLSearchParams
  readonly nights: readonly PagedSnapshot[]
  readonly accounts: readonly string[]
  readonly timezone: string
}): Html {
  const [newest, older] = [nights[0], nights.find(({ id }) => id === nights[0]?.previous)]
  const from = query.get('from') ?? older?.id ?? ''
  const to = query.get('to') ?? newest?.id ?? ''
  return html`${
    nights.length < 2
      ? null
      : html`<form class="filters" method="get" action="${PATH}" aria-label="Compare two nights">
${night('from', 'From the night', nights, from, timezone)}
${night('to', 'To the night', nights, to, timezone)}
<button>Compare nights</button> <a href="/ledger/snapshots">Older nights</a>
</form>`
  }
<form class="filters" method="get" action="${PATH}" aria-label="Compare two moments">
${instantField('from', 'From', query, timezone)}
${instantField('to', 'To', query, timezone)}
${fieldOf(accountFilter(accounts, query), query)}
<button>Compare moments</button>
</form>`
}

function night(
  name: string,
  label: string,
  nights: readonly PagedSnapshot[],
  chosen: string,
  timezone: string,
): Html {
  const choices = nights.map(({ id, account, slot, takenAt, status }) => {
    const at = inZone(slot ?? takenAt, timezone).slice(0, 'YYYY-MM-DD HH:MM'.length)
    return [
      id,
      [at, account, ...(status === 'succeeded' ? [] : [status]), ...(slot ? [] : ['by hand'])].join(', '),
    ] as const
  })
  return html`<label class="wide">${label} (${timezone}) ${select(name, choices, chosen)}</label>`
}
