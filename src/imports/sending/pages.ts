import type { Pool, PoolClient } from 'pg'
import type { z } from 'zod'
import { inTransaction } from '#src/db/pool.ts'
import { findAll } from '#src/db/rows.ts'

/** Rows that are changed at once. That takes some tenths of a second, and a pause may have to wait for it. */
const PAGE_ROWS = 10_000

/**
 * Gives the rows of a query to `change`, page by page, until it returns false. Returns whether all were changed. The rows
 * are as they were when the query began. The rows of one batch are on one page.
 */
export async function inPages<Row extends { readonly batchId: string | null }>(
  pool: Pool,
  Result: z.ZodType<Row>,
  query: string,
  params: readonly unknown[],
  change: (page: readonly Row[]) => Promise<boolean>,
): Promise<boolean> {
  return reading(pool, async client => {
    await client.query(`declare found no scroll cursor for ${query}`, [...params])
    let page: readonly Row[] = []
    for (;;) {
      const rows = await findAll(client, Result, `fetch ${PAGE_ROWS} from found`)
      const isLast = rows.length < PAGE_ROWS
      page = page.concat(rows)
      const whole = isLast ? page.length : wholeBatches(page)
      if (whole > 0 && !(await change(page.slice(0, whole)))) return false
      if (isLast) return true
      page = page.slice(whole)
    }
  })
}

/** Returns how many rows precede those of the last batch, which may have more rows on the next page. */
function wholeBatches(page: readonly { readonly batchId: string | null }[]): number {
  const last = page.at(-1)?.batchId ?? null
  return last === null ? page.length : page.findIndex(row => row.batchId === last)
}

/** Returns the rows of a query about rows that other imports have in common with one. */
export function readAcrossImports<Row>(
  pool: Pool,
  Result: z.ZodType<Row>,
  query: string,
  params: readonly unknown[],
): Promise<Row[]> {
  return reading(pool, client => findAll(client, Result, query, [...params]))
}

/**
 * Runs reads with settings that suit them, whatever the statistics say: they join millions of rows by hashes, and look up
 * rows by ranges of lines.
 */
function reading<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async client => {
    await client.query(`
      set local enable_nestloop = off; set local enable_seqscan = off; set local jit = off;
      set local work_mem = '64MB'; set local cursor_tuple_fraction = 1`)
    return work(client)
  })
}
