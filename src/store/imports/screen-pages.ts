import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../database.ts'

/** So many rows are changed at once: tenths of a second, for which a pause may have to wait. */
const PAGE_ROWS = 10_000

/**
 * Hands the rows of a query to `change`, page by page, until it returns false; returns whether all were changed. The rows
 * are those of the moment at which the query began, and those of one batch are on one page.
 */
export async function inPages<Row extends { readonly batch_id: string | null }>(
  pool: Pool,
  query: string,
  params: readonly unknown[],
  change: (page: readonly Row[]) => Promise<boolean>,
): Promise<boolean> {
  return reading(pool, async client => {
    await client.query(`declare found no scroll cursor for ${query}`, [...params])
    let page: readonly Row[] = []
    for (;;) {
      const { rows } = await client.query<Row>(`fetch ${PAGE_ROWS} from found`)
      const isLast = rows.length < PAGE_ROWS
      page = page.concat(rows)
      const whole = isLast ? page.length : wholeBatches(page)
      if (whole > 0 && !(await change(page.slice(0, whole)))) return false
      if (isLast) return true
      page = page.slice(whole)
    }
  })
}

/** How many rows there are before those of the last batch, of which more may come. */
function wholeBatches(page: readonly { readonly batch_id: string | null }[]): number {
  const last = page.at(-1)?.batch_id ?? null
  return last === null ? page.length : page.findIndex(row => row.batch_id === last)
}

/** Returns the rows of a query about rows that other imports have in common with one. */
export async function look<Row extends object>(
  pool: Pool,
  query: string,
  params: readonly unknown[],
): Promise<Row[]> {
  return reading(pool, async client => (await client.query<Row>(query, [...params])).rows)
}

/**
 * Does some reading with plans that suit it, whatever is known of the tables: millions of rows are met by their hashes,
 * and looked up by ranges of lines.
 */
function reading<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async client => {
    await client.query(`
      set local enable_nestloop = off; set local enable_seqscan = off; set local jit = off;
      set local work_mem = '64MB'; set local cursor_tuple_fraction = 1`)
    return work(client)
  })
}
