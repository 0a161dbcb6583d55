import type { FirstReading } from '#src/inventory/history-start.ts'
import { counted } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { type Moment, momentInWords } from './moments.ts'
import { foreign, time } from './values.ts'

/*
 * What a comparison of two moments cannot know: there were readings only later, or the moment is still to come.
 */

type Pair = { readonly from: Moment; readonly to: Moment }

/** So many accounts are named; the others are counted. */
const MAX_NAMED = 5

/** Says so if accounts were first read after the first moment: what they had then is not known. */
export function unreadNotice(
  readings: readonly FirstReading[],
  { from }: Pair,
  timezone: string,
): Html | null {
  const later = readings.filter(({ at }) => at.getTime() > Date.parse(from.at))
  if (later.length === 0) return null
  const named = later.slice(0, MAX_NAMED)
  const rest = later.length - named.length
  return html`<p class="notice warn">${named.map(({ account, at }) => html`Nothing of account ${foreign(account)} was read before ${time(at, timezone)}. `)}${rest > 0 ? `${counted(rest, 'other account')} ${rest === 1 ? 'was' : 'were'} first read later too. ` : null}What there was earlier is not known: what was read first is one entry.</p>`
}

/** Whether nothing was read up to the second moment. */
export function isUnread(readings: readonly FirstReading[], { to }: Pair): boolean {
  return readings.length > 0 && readings.every(({ at }) => at.getTime() > Date.parse(to.at))
}

/** Says so of a moment that is still to come. */
export function futureNotice({ from, to }: Pair, now: Date, timezone: string): Html | null {
  const isFuture = ({ at }: Moment) => Date.parse(at) > now.getTime()
  if (!isFuture(to)) return null
  if (isFuture(from))
    return html`<p class="notice warn">Both moments are in the future: nothing is known of them.</p>`
  return html`<p class="notice warn">The moment ${momentInWords(to, timezone)} is in the future: what is known now is shown for it.</p>`
}
