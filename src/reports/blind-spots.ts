import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'

/** A time in which an inventory was older than promised, see the function `ferry.blind_spots`. */
const BlindSpot = z.object({
  account: z.string(),
  inventory: z.string(),
  /** When the data became older than promised. */
  lateFrom: z.date(),
  /** Null: it still is. */
  freshAgainAt: z.date().nullable(),
  errorCode: z.string().nullable(),
})
export type BlindSpot = Readonly<z.infer<typeof BlindSpot>>

/** The blind spots of the last day, the latest first; at most `limit`. */
export async function listBlindSpots(client: Pool | PoolClient, limit: number): Promise<BlindSpot[]> {
  const { rows } = await client.query(
    `select account, inventory, late_from as "lateFrom", fresh_again_at as "freshAgainAt", error_code as "errorCode"
     from ferry.blind_spots(now() - interval '1 day') order by late_from desc limit $1`,
    [limit],
  )
  return BlindSpot.array().parse(rows)
}
