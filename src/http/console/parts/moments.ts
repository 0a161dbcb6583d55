import type { Pool } from 'pg'
import { z } from 'zod'
import type { FirstReading } from '#src/inventory/history/history-start.ts'
import { findSnapshot } from '#src/inventory/history/snapshot-page.ts'
import { counted } from '#src/model/counted.ts'
import { endOfMillisecond } from '#src/model/instant.ts'
import { type Html, html } from '../html.ts'
import { instantIn } from './instants.ts'
import { CursorId } from './paging.ts'
import { foreign, time } from './values.ts'

/** A moment in an address: the number of a snapshot, or a time. */
export function momentIn(zone: string) {
  const snapshot = CursorId.transform(text => ({ snapshot: BigInt(text) }))
  return z.union([snapshot, instantIn(zone).transform(at => ({ at }))], {
    error: 'write the number of a snapshot, or a time such as 2026-11-20T03:30',
  })
}

export type AskedMoment = z.output<ReturnType<typeof momentIn>>

export type Moment = {
  /** Exact, as Postgres reads it. */
  readonly at: string
  readonly snapshot: bigint | null
  /** Of a snapshot. */
  readonly account: string | null
}

/** Looks up what was asked for; null if there is no such snapshot. */
export async function resolveMoment(pool: Pool, asked: AskedMoment): Promise<Moment | null> {
  if ('at' in asked) return { at: endOfMillisecond(asked.at), snapshot: null, account: null }
  const found = await findSnapshot(pool, asked.snapshot)
  return found && { ...found, snapshot: asked.snapshot }
}

export function momentInWords({ at, snapshot }: Moment, timezone: string): Html {
  return html`${snapshot === null ? null : html`snapshot ${snapshot} of `}${time(new Date(at), timezone)}`
}

/** Two moments to compare. Nothing is known of one before the first reading, or of one that is still to come. */
export type Pair = { readonly from: Moment; readonly to: Moment }

/** The most accounts that are named; the others are counted. */
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
  return html`<p class="notice warn">${named.map(({ account, at }) => html`Account ${foreign(account)} was first read at ${time(at, timezone)}. `)}${rest > 0 ? `${counted(rest, 'other account was', 'other accounts were')} also first read later. ` : null}What existed before is unknown: a first reading is one entry.</p>`
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
    return html`<p class="notice warn">Both moments are in the future, so nothing is known about them.</p>`
  return html`<p class="notice warn">The moment ${momentInWords(to, timezone)} is in the future, so the current state is shown for it.</p>`
}
