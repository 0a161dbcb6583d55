import type { Pool } from 'pg'
import { z } from 'zod'
import { guardedMs, type Limit } from '#src/model/limit.ts'
import { onlyRow } from './rows.ts'

/** What a limit allows for an operation at this moment. */
const LimitState = z.object({
  /** Until the next call may begin. */
  waitMs: z.number(),
  /** Until the platform's refusal no longer stops all calls; 0 if none did. */
  closedMs: z.number(),
  /** Calls that count in the longest window, and how long ago the first of them began. */
  counted: z.number(),
  countedForMs: z.number(),
})
export type LimitState = Readonly<z.infer<typeof LimitState>>

/** Reads from the call log how long the next call of `operation` would wait, and acquires nothing. */
export async function loadLimitState(
  pool: Pool,
  { limitKey, windows }: Limit,
  operation: string,
): Promise<LimitState> {
  const { rows } = await pool.query(
    `select wait_ms as "waitMs", closed_ms as "closedMs", counted, counted_for_ms as "countedForMs"
     from ferry.limit_state($1, $2, $3::int[], $4::int[])`,
    [
      limitKey,
      operation,
      windows.map(window => window.maxCalls),
      windows.map(window => guardedMs(window.windowMs)),
    ],
  )
  return onlyRow(LimitState.array().parse(rows), 'looking at the limit')
}
