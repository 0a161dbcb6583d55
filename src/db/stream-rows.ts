import type { Pool, QueryResultRow } from 'pg'
import { beginReading } from './pool.ts'

const PAGE_ROWS = 1_000

/** A reader may pause this long, as a person does in `less`. After that the server ends the transaction. */
const MAX_READER_IDLE = '15min'

/**
 * Yields the rows of one query, read in pages, however many there are.
 *
 * All rows are from one instant. They are read only as fast as the caller takes them. The read-only transaction behind it
 * ends with the loop.
 */
export async function* streamRows<Row extends QueryResultRow>(
  pool: Pool,
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
    await client.query(`declare rows_to_read no scroll cursor for ${sql}`, [...params])
    for (;;) {
      const { rows } = await client.query<Row>(`fetch ${PAGE_ROWS} from rows_to_read`)
      yield* rows
      if (rows.length < PAGE_ROWS) break
    }
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    if (!failure) await client.query('rollback').catch(error => (failure = error))
    client.off('error', broken)
    client.release(failure)
  }
}

/** Returns the only row of a query that reads many rows, such as a count. Throws if there is none. */
export async function readOne<Row extends QueryResultRow>(
  pool: Pool,
  sql: string,
  params: readonly unknown[],
): Promise<Row> {
  for await (const row of streamRows<Row>(pool, sql, params)) return row
  throw new Error('the query returned no row')
}
