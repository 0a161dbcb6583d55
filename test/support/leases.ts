import { randomUUID } from 'node:crypto'
import type { Client, Pool } from 'pg'
import { takeLease } from '#src/db/lease-rows.ts'

/* Leases as other workers may leave them, for tests that are about something else. */

const HOUR_MS = 3_600_000

/** Takes a lease for an hour. Nobody renews it. */
export async function holdLease(
  pool: Pool,
  name: string,
  holder = 'test',
): Promise<{ name: string; token: string }> {
  const token = randomUUID()
  if (!(await takeLease(pool, name, token, holder, HOUR_MS))) throw new Error(`${name} is held already`)
  return { name, token }
}

/** Every lease expired so long ago, as if its worker had died. */
export async function expireLeases(pool: Pool, agoMs = 1_000): Promise<void> {
  await pool.query(`update ferry.leases set expires_at = clock_timestamp() - $1 * interval '1 ms'`, [agoMs])
}

/** Every lease has another holder. */
export async function takeOverLeases(pool: Pool): Promise<void> {
  await pool.query('update ferry.leases set token = gen_random_uuid()')
}

/** Nobody holds a lease. */
export async function removeLeases(pool: Pool): Promise<void> {
  await pool.query('delete from ferry.leases')
}

/** The leases by name. One that is over is there until somebody takes or removes it. */
export async function leasesOf(
  pool: Pool | Client,
): Promise<{ name: string; expiresAt: Date; isOver: boolean }[]> {
  const { rows } = await pool.query(
    `select name, expires_at as "expiresAt", expires_at <= clock_timestamp() as "isOver" from ferry.leases order by name`,
  )
  return rows
}
