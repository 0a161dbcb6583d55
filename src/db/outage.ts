import { DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { placeOf } from '#src/model/postgres-address.ts'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'

/** Where a database is, and the name of the setting that holds the address. */
export type DatabaseAddress = { readonly url: string; readonly setting: string }

/** A connection to Postgres could not be opened, or broke, or the server is read-only. The message names the server. */
export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable'
  readonly code: string
  /** Whether no connection was had: the server was asked for nothing. */
  readonly wasUnreached: boolean
  constructor({ url, setting }: DatabaseAddress, cause: unknown, wasUnreached = false) {
    const code = codeOf(cause)
    const what = code === READ_ONLY ? 'accepts no writes' : 'cannot be reached'
    super(`Postgres at ${placeOf(url)} (${setting}) ${what}: ${reasonOf(cause)}`, { cause })
    this.code = code
    this.wasUnreached = wasUnreached
  }
}

const READ_ONLY = '25006'
const DISK_FULL = '53100'

/** Whether the error is about the server or the connection, and not about the statement. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof DatabaseError && /^(08|25006|25P03|53300|57P)/.test(codeOf(error))
}

/** An outage that begins within this time after the last one counts as the same trouble: it is logged at `debug` until it lasts as long. */
const SAME_TROUBLE_MS = 60_000

/** However many statements fail for want of space. */
const DISK_FULL_EVERY_MS = 60_000

/** Logs once that Postgres cannot be used, and once that it can be used again. */
export function createOutageLog(log: Logger) {
  let outage: {
    readonly sinceMs: number
    readonly isReadOnly: boolean
    readonly level: 'debug' | 'warn'
  } | null = null
  let endedAtMs = Number.NEGATIVE_INFINITY
  let diskFullAtMs = Number.NEGATIVE_INFINITY
  return {
    /** Reports that a statement failed. What only reads still succeeds on a full disk, so its end cannot be told. */
    refused(error: unknown): void {
      const nowMs = performance.now()
      if (codeOf(error) !== DISK_FULL || nowMs - diskFullAtMs < DISK_FULL_EVERY_MS) return
      diskFullAtMs = nowMs
      log.warn({ error: reasonOf(error) }, 'The disk of Postgres is full: free some space.')
    },
    failed(error: PostgresUnavailable): void {
      if (!isTransient(error)) return
      const nowMs = performance.now()
      const sinceMs = outage?.sinceMs ?? nowMs
      const level =
        sinceMs - endedAtMs < SAME_TROUBLE_MS && nowMs - sinceMs < SAME_TROUBLE_MS ? 'debug' : 'warn'
      if (outage?.level === level) return
      log[level]({ error: error.message }, 'Postgres is unavailable; Ferry keeps trying.')
      outage = { sinceMs, isReadOnly: error.code === READ_ONLY, level }
    },
    /**
     * Reports that a statement succeeded. Only a connection opened after the outage began proves that it is over: an
     * older one may lead to the server that failed.
     */
    succeeded({
      openedAtMs,
      isReadOnly,
    }: {
      readonly openedAtMs: number
      readonly isReadOnly: boolean
    }): void {
      if (!outage || openedAtMs < outage.sinceMs || (outage.isReadOnly && isReadOnly)) return
      endedAtMs = performance.now()
      const level = outage.level === 'warn' ? 'info' : 'debug'
      log[level]({ afterMs: Math.round(endedAtMs - outage.sinceMs) }, 'Postgres is available again.')
      outage = null
    },
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
