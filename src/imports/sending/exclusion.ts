import type { Pool, PoolClient } from 'pg'
import { fenceWithLease, type Lease } from '#src/db/leases.ts'
import { findByIndex } from '#src/db/planner.ts'
import { inTransaction } from '#src/db/pool.ts'
import { isActiveInSql, isSamePage } from '#src/imports/page.ts'

/** One pass over the unsent rows of an import; `exclude-already-sent.ts` has its story. */
export type Exclusion = {
  readonly importId: bigint
  /** `excluding_to_call`: another pass, and a decision about what this one looks at, change it. */
  readonly toCall: bigint
  readonly isUpdate: boolean
  /** How many rows the import still has to send, at most. */
  readonly rows: number
  readonly lease: Lease
  readonly signal: AbortSignal
}

/**
 * In SQL: `mine` is the import, `others` are those of the same page, and `unsent` are its rows that are still to be sent,
 * with the batch that is ready with them. Each batch looks up its rows by the index; joined, all rows of an import would
 * meet all its batches. The limit leaves out no row: it tells the planner, who may have no statistics of the import yet,
 * which of the two sides is small.
 */
export const unsentOf = ({ rows }: Exclusion) => `
  mine as materialized (
    select * from ferry.imports i where i.id = $1
  ), others as materialized (
    select o.id, o.on_uncertain
    from mine i
    join ferry.imports o on ${isSamePage('i', 'o')} and o.id <> i.id
  ), unsent as materialized (
    select * from (
      select r.*, null::bigint as batch_id
      from mine i
      cross join lateral (
        select r.* from ferry.import_recipients r where r.import_id = i.id and r.line > i.batched_to offset 0) r
      union all
      select r.*, b.id
      from ferry.import_batches b
      cross join lateral (
        select r.* from ferry.import_recipients r
        where r.import_id = b.import_id and r.line between b.from_line and b.to_line offset 0) r
      where b.import_id = $1 and b.state in ('ready', 'doubted')
    ) u limit ${rows}
  )`

/** Changes some rows while the import is locked. Returns false, and changes nothing, if the pass is to stop. */
export async function changeRows(
  pool: Pool,
  { importId, toCall, lease, signal }: Exclusion,
  work: (client: PoolClient) => Promise<unknown>,
): Promise<boolean> {
  if (signal.aborted) return false
  return inTransaction(pool, async client => {
    const { rowCount } = await client.query(
      `select from ferry.imports i
       where i.id = $1 and i.excluding_to_call = $2 and ${isActiveInSql('i')} for update`,
      [importId, toCall],
    )
    if (rowCount === 0) return false
    await findByIndex(client)
    await work(client)
    await fenceWithLease(client, lease)
    return true
  })
}
