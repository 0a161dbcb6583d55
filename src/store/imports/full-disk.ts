import type { Pool, PoolClient } from 'pg'

/*
 * What a staging that did not end has written stays in the tables' files until they are vacuumed: on a disk that it has
 * filled, that must not wait for autovacuum. But a vacuum writes a little itself (the visibility map), which a full disk
 * has no room for. So a staging reserves some, in a temporary table, whose file is gone as soon as the transaction fails.
 */

const TABLES = ['ferry.import_recipients', 'ferry.import_rejects', 'ferry.import_left_out'] as const

/** A megabyte, four rows a page: more than the maps of 8 GB of rows. Nothing of it is compressed. */
const RESERVED_ROWS = 512

export function isDiskFull(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === '53100'
}

/** Reserves what a vacuum needs, for as long as the transaction lasts, where the tables are. */
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
 * Gives back what failed stagings have written, where nothing written later stands behind it; returns how many bytes.
 * Indexes keep their size: the next rows fill it.
 */
export async function giveBackSpace(pool: Pool): Promise<number> {
  const size = async () => {
    const { rows } = await pool.query<{ bytes: string }>(
      'select sum(pg_total_relation_size(name::regclass))::bigint as bytes from unnest($1::text[]) as name',
      [TABLES],
    )
    return Number(rows[0]?.bytes ?? 0)
  }
  const before = await size()
  await pool.query(`vacuum ${TABLES.join(', ')}`)
  return before - (await size())
}
