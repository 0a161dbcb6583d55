import type { Pool } from 'pg'
import { z } from 'zod'
import { findSnapshot } from '#src/inventory/snapshot-page.ts'
import { type Html, html } from '../html.ts'
import { instantIn } from './instants.ts'
import { time } from './values.ts'

/** A moment in an address: the number of a snapshot, or a time. */
export function momentIn(zone: string) {
  const snapshot = z
    .string()
    .regex(/^\d{1,18}$/)
    .transform(text => ({ snapshot: BigInt(text) }))
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
  if ('at' in asked) return { at: asked.at.toISOString(), snapshot: null, account: null }
  const found = await findSnapshot(pool, asked.snapshot)
  return found && { ...found, snapshot: asked.snapshot }
}

export function momentInWords({ at, snapshot }: Moment, timezone: string): Html {
  return html`${snapshot === null ? null : html`snapshot ${snapshot} of `}${time(new Date(at), timezone)}`
}
