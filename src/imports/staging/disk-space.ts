import type { Pool, PoolClient } from 'pg'
import { onlyRow } from '#src/db/rows.ts'

/*
 * The rows of a staging that failed stay in the files of the tables until these are vacuumed. On a disk that is full because
 * of them, that must not wait for autovacuum. But a vacuum itself writes a little (the visibility map), for which a full disk
 * has no room. So a staging reserves space in a temporary table, whose file is removed as soon as the transaction fails.
 */

const TABLES = ['ferry.import_recipients', 'ferry.import_rejects', 'ferry.import_left_out'] as const

/** A megabyte, four rows a page: more than the maps of 8 GB of rows. The rows are too small to be compressed. */
const RESERVED_ROWS = 512

export function isDiskFull(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === '53100'
}

/** Reserves the space that a vacuum needs, on the disk of the tables, until the transaction ends. */
export async function reserveSpace(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ tablespace: string }>(
    `select quote_ident(t.spcname) as tablespace
     from pg_class c
     join pg_database d on d.datname = current_database()
     join pg_tablespace t on t.oid = coalesce(nullif(c.reltablespace, 0), d.dattablespace)
     where c.oid = $1::regclass
       and (c.reltablespace in (0, d.dattablespace) or has_tablespace_privilege(t.oid, 'create'))`,
    [TABLES[0]],
  )
  const [row] = rows
  if (!row) return
  await client.query(
    `create temporary table import_reserved on commit drop tablespace ${row.tablespace} as
       select repeat('x', 1900) from generate_series(1, ${RESERVED_ROWS})`,
  )
}

/**
 * Frees the space that failed stagings have written, unless rows written later stand behind it. Returns how many bytes.
 * Indexes keep their size; the next rows use it.
 */
export async function freeSpace(pool: Pool): Promise<number> {
  const size = async () => {
    const { rows } = await pool.query<{ bytes: string }>(
      'select sum(pg_total_relation_size(name::regclass))::bigint as bytes from unnest($1::text[]) as name',
      [TABLES],
    )
    return Number(onlyRow(rows, 'measuring the tables').bytes)
  }
  const before = await size()
  await pool.query(`vacuum ${TABLES.join(', ')}`)
  return before - (await size())
}
