import { counted } from '#src/model/counted.ts'
import type { Resource } from '#src/model/resource.ts'
import { loadLate } from '#src/reports/freshness.ts'
import { type Html, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { foreign, time } from './values.ts'

/** The most accounts that are named; the others are counted. */
const MAX_NAMED = 5

/** Says of which accounts what is shown may not be so any more: an inventory is older than its freshness target. */
export async function latenessNote(
  { reader, query, target: { timezone } }: Pick<PageRequest, 'reader' | 'query' | 'target'>,
  of: readonly Resource[],
  account = query.get('account') || null,
): Promise<Html | null> {
  const late = await loadLate(reader, of, account)
  if (late.length === 0) return null
  const rest = late.length - MAX_NAMED
  return html`<p class="notice warn">What is shown may not be so any more. Older than their freshness target are ${late
    .slice(0, MAX_NAMED)
    .map(
      ({ account, inventory, lastCompleteAt }, n) =>
        html`${n > 0 ? ', ' : ''}the ${inventory} of account ${foreign(account)} (${lastCompleteAt ? html`last read ${time(lastCompleteAt, timezone)}` : 'never read completely'})`,
    )}${rest > 0 ? ` and ${counted(rest, 'other inventory', 'other inventories')}` : ''}.</p>`
}
