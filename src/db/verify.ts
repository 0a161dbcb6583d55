import type { Pool, PoolClient } from 'pg'
import type { z } from 'zod'
import { inTransaction } from './pool.ts'
import { type Found, rowsOf } from './rows.ts'
import { fetchRows } from './stream-rows.ts'

/*
 * What `ferry verify` checks. Each room declares which promises the rows of its tables can show, as queries for the rows that
 * break them. Postgres reads whole tables; this process holds one page of what they found.
 */

/** A promise, and the query for the rows that break it. */
export type Check = {
  readonly name: string
  /** The promise, as a sentence without its full stop. */
  readonly holds: string
  readonly sql: string
  readonly values: readonly unknown[]
  /** One sentence for each row of a page: its table, which row it is, and what is wrong with it. */
  describe(page: Found): string[]
  readonly whatToDo: string
}

type Words = Pick<Check, 'name' | 'holds' | 'whatToDo'>

/** Declares a check. `found` is the sentence about a row of `broken`. */
export function check<Row>(
  Broken: z.ZodType<Row>,
  {
    broken,
    found,
    values = [],
    ...words
  }: Words & { broken: string; values?: readonly unknown[]; found(row: Row): string },
): Check {
  return { ...words, sql: broken, values, describe: page => rowsOf(Broken, page).map(found) }
}

/** Yields a sentence for each row that breaks the promise, in the transaction of `client`. All rows are of one instant. */
export async function* findBroken(
  client: PoolClient,
  { sql, values, describe }: Check,
): AsyncGenerator<string> {
  // A reader may pause, as in `less`. Whole tables are sorted and joined: more memory saves temporary files.
  await client.query(
    `set local idle_in_transaction_session_timeout = '15min'; set local jit = off; set local work_mem = '64MB'`,
  )
  yield* fetchRows(client, describe, sql, values)
}

/** Calls `onFound` for each row that breaks the promise, and returns how many there are. Only reads. */
export function verify(
  pool: Pool,
  check: Check,
  onFound: (found: string) => void | Promise<void>,
): Promise<number> {
  return inTransaction(pool, async client => {
    await client.query('set transaction read only')
    let count = 0
    for await (const found of findBroken(client, check)) {
      count += 1
      await onFound(found)
    }
    return count
  })
}
