/**
 * Whether an error of Postgres or Redis is the environment's fault and passes by itself: a lost connection, a server that
 * stops or starts, is read-only (a failover), has no connection left, has another password than Ferry while it is rotated, or
 * ended a transaction that took too long, and a transaction that conflicted with another.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^[0-9A-Z]{5}$/.test(code) && !SYSTEM_ERROR.test(code)) {
    return /^(08|28P01|25006|25P0[34]|40|53|55P03|57P)/.test(code)
  }
  return SYSTEM_ERROR.test(code) || /connect|socket|query read timeout/i.test(error.message)
}

/** ECONNRESET, ETIMEDOUT, EAI_AGAIN, ..., not Node's own ERR_ASSERTION; EPIPE has the length of Postgres's codes, of which none begins with E. */
const SYSTEM_ERROR = /^E(?!RR_)[A-Z]+(_[A-Z]+)?$/
