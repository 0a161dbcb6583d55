import type { Pool, QueryResultRow } from 'pg'

const PAGE = 1_000

/** Longer than a person looks at one page of `less`; then the server ends the transaction, and with it the reading. */
const READER_IDLE_WITHIN = '15min'

/**
 * Yields the rows of one query, a page at a time, however many there are: they are those of one instant, and read no
 * faster than they are taken. The transaction behind it only reads, and ends with the loop.
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
    await client.query('begin read only')
    // What is compiled here would take longer than it saves: the queries look up few rows each of many.
    await client.query('set local jit = off')
    await client.query(`set local idle_in_transaction_session_timeout = '${READER_IDLE_WITHIN}'`)
    await client.query(`declare rows_to_read no scroll cursor for ${sql}`, [...params])
    for (;;) {
      const { rows } = await client.query<Row>(`fetch ${PAGE} from rows_to_read`)
      yield* rows
      if (rows.length < PAGE) break
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

/** The only row of a query that reads much to answer little, such as a count. */
export async function readOne<Row extends QueryResultRow>(
  pool: Pool,
  sql: string,
  params: readonly unknown[],
): Promise<Row> {
  for await (const row of streamRows<Row>(pool, sql, params)) return row
  throw new Error('the query answered no row')
}
