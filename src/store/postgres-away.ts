import { DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { isPassing } from './patience.ts'
import { placeOf } from './place.ts'

/** Where a database is, and the setting that says so. */
export type DatabaseAddress = { readonly url: string; readonly setting: string }

/** A connection to Postgres could not be made, or broke, or its server takes no writes. The message says which server. */
export class PostgresAway extends Error {
  override readonly name = 'PostgresAway'
  readonly code: string
  constructor({ url, setting }: DatabaseAddress, cause: unknown) {
    const code = codeOf(cause)
    const what = code === READ_ONLY ? 'takes no writes' : 'cannot be reached'
    super(`Postgres at ${placeOf(url)} (${setting}) ${what}: ${reasonOf(cause)}`, { cause })
    this.code = code
  }
}

const READ_ONLY = '25006'

/** Whether the server said so of itself or of the connection, not of the statement. */
export function isOfConnection(error: unknown): boolean {
  return error instanceof DatabaseError && /^(08|25006|25P03|53300|57P)/.test(codeOf(error))
}

/** After Postgres was back, what is away again within this time is the same trouble still. */
const SAME_TROUBLE_MS = 60_000

/** Says once that Postgres is away, and once that it is back. */
export function openAwayLog(log: Logger) {
  let away: {
    readonly sinceMs: number
    readonly isReadOnly: boolean
    readonly level: 'debug' | 'warn'
  } | null = null
  let backAtMs = Number.NEGATIVE_INFINITY
  return {
    failed(error: PostgresAway): void {
      if (away || !isPassing(error)) return
      const nowMs = performance.now()
      const level = nowMs - backAtMs < SAME_TROUBLE_MS ? 'debug' : 'warn'
      log[level]({ error: error.message }, 'Postgres is away; what needs it is tried again')
      away = { sinceMs: nowMs, isReadOnly: error.code === READ_ONLY, level }
    },
    /** Something worked on a connection opened at that time. Older ones may lead to where the server was. */
    worked({ openedAtMs, isReadOnly }: { readonly openedAtMs: number; readonly isReadOnly: boolean }): void {
      if (!away || openedAtMs < away.sinceMs || (away.isReadOnly && isReadOnly)) return
      backAtMs = performance.now()
      const backLevel = away.level === 'warn' ? 'info' : 'debug'
      log[backLevel]({ afterMs: Math.round(backAtMs - away.sinceMs) }, 'Postgres is back')
      away = null
    },
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
