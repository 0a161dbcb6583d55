import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { beginReading } from './pool.ts'
import { type Found, rowsOf } from './rows.ts'

const PAGE_ROWS = 1_000

/** A reader may pause this long, as a person does in `less`. After that the server ends the transaction. */
const MAX_READER_IDLE = '15min'

/**
 * Yields the rows of one query, read in pages, however many there are. `check` makes rows of what a page holds.
 *
 * All rows are from one instant. They are read only as fast as the caller takes them. The read-only transaction behind it
 * ends with the loop.
 */
export async function* streamRows<Row>(
  pool: Pool,
  check: (page: Found) => readonly Row[],
  sql: string,
  params: readonly unknown[],
): AsyncGenerator<Row> {
  const client = await pool.connect()
  let failure: Error | undefined
  const broken = () => {}
  client.on('error', broken)
  try {
    await client.query(beginReading(pool))
    // These queries look up few rows of many tables: compiling them would take longer than it saves.
    await client.query('set local jit = off')
    await client.query(`set local idle_in_transaction_session_timeout = '${MAX_READER_IDLE}'`)
    yield* fetchRows(client, check, sql, params)
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    if (!failure) await client.query('rollback').catch(error => (failure = error))
    client.off('error', broken)
    client.release(failure)
  }
}

/** The same in the transaction of `client`, which may run one such query after another. */
export async function* fetchRows<Row>(
  client: PoolClient,
  check: (page: Found) => readonly Row[],
  sql: string,
  params: readonly unknown[],
): AsyncGenerator<Row> {
  await client.query(`declare rows_to_read no scroll cursor for ${sql}`, [...params])
  for (;;) {
    const rows = check(await client.query(`fetch ${PAGE_ROWS} from rows_to_read`))
    yield* rows
    if (rows.length < PAGE_ROWS) break
  }
  await client.query('close rows_to_read')
}

/** Returns the number of a `select count(*)::int` that reads many rows. */
export async function readCount(pool: Pool, sql: string, params: readonly unknown[]): Promise<number> {
  for await (const { count } of streamRows(pool, page => rowsOf(Count, page), sql, params)) return count
  throw new Error('the query returned no count')
}

const Count = z.object({ count: z.number() })
