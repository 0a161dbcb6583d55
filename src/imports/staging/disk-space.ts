import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { findColumn, findValue, Int8 } from '#src/db/rows.ts'
import { reasonOf } from '#src/model/reason.ts'

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
  const [tablespace] = await findColumn(
    client,
    z.string(),
    `select quote_ident(t.spcname) as tablespace
     from pg_class c
     join pg_database d on d.datname = current_database()
     join pg_tablespace t on t.oid = coalesce(nullif(c.reltablespace, 0), d.dattablespace)
     where c.oid = $1::regclass
       and (c.reltablespace in (0, d.dattablespace) or has_tablespace_privilege(t.oid, 'create'))`,
    [TABLES[0]],
  )
  if (tablespace === undefined) return
  await client.query(
    `create temporary table import_reserved on commit drop tablespace ${tablespace} as
       select repeat('x', 1900) from generate_series(1, ${RESERVED_ROWS})`,
  )
}

/**
 * Frees the space that failed stagings have written, unless rows written later stand behind it. Returns how many bytes.
 * Indexes keep their size; the next rows use it.
 */
export async function freeSpace(pool: Pool): Promise<number> {
  const sum = 'select sum(pg_total_relation_size(name::regclass))::bigint from unnest($1::text[]) as name'
  const before = await findValue(pool, Int8, sum, [TABLES])
  await pool.query(`vacuum ${TABLES.join(', ')}`)
  return Number(before - (await findValue(pool, Int8, sum, [TABLES])))
}

/** Postgres had no room for the rows of a file: none of them was stored. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull'
  readonly whatToDo: string

  constructor(what: string, whatToDo: string, options: ErrorOptions) {
    super(`The disk of Postgres is full: nothing of the file was stored${what}.`, options)
    this.whatToDo = whatToDo
  }
}

const MAKE_ROOM = 'Free disk space (a million rows take about 250 MB), then run this again.'

/** Frees the space that was written before the disk was full. Returns the error to throw. */
export async function afterDiskFull(pool: Pool, cause: Error, isDryRun: boolean): Promise<DiskFull> {
  // A dry run writes to temporary tables, which are gone with its transaction.
  if (isDryRun) return new DiskFull('', MAKE_ROOM, { cause })
  try {
    const bytes = await freeSpace(pool)
    const freed = bytes > 1e6 ? `, and ${Math.round(bytes / 1e6)} MB were freed` : ''
    return new DiskFull(freed, MAKE_ROOM, { cause })
  } catch (error) {
    return new DiskFull(
      '',
      `${MAKE_ROOM} The space that was written is freed when Postgres vacuums its tables; vacuuming them failed now (${reasonOf(error)}).`,
      { cause },
    )
  }
}
