import type { SQL } from 'drizzle-orm'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { and, drizzleOf, eq, inArray, sql } from './drizzle.ts'
import { answeringWithin } from './pool.ts'
import { countOf, findValue, type Queryable } from './rows.ts'
import { leases } from './schema.ts'

/*
 * The queries on the rows of leases. `leases.ts` says what a lease guarantees.
 */

/** False if it has not expired, or is locked by work that is being applied or claimed under it. */
export async function takeLease(
  pool: Pool,
  name: string,
  token: string,
  holder: string,
  lifeMs: number,
): Promise<boolean> {
  const taken = await pool.query(
    `with free as (
       select name from ferry.leases where name = $1 and expires_at <= clock_timestamp() for update skip locked
     ), taken as (
       update ferry.leases l set token = $2, holder = $3, acquired_at = clock_timestamp(),
         expires_at = clock_timestamp() + $4 * interval '1 ms'
       from free where l.name = free.name returning 1
     ), added as (
       insert into ferry.leases (name, token, holder, acquired_at, expires_at)
       select $1, $2, $3, clock_timestamp(), clock_timestamp() + $4 * interval '1 ms'
       where not exists (select from taken) on conflict do nothing returning 1
     )
     select from taken union all select from added`,
    [name, token, holder, lifeMs],
  )
  return countOf(taken) === 1
}

/** The holder of a lease, and whether it has expired; undefined if it is free. */
export async function findHolder(
  pool: Pool,
  name: string,
): Promise<{ holder: string; isExpired: boolean } | undefined> {
  const isExpired = sql`${leases.expires_at} <= clock_timestamp()`.mapWith(z.boolean().parse)
  const [held] = await drizzleOf(pool)
    .select({ holder: leases.holder, isExpired })
    .from(leases)
    .where(eq(leases.name, name))
  return held
}

/**
 * `in use`: its row is locked, by the work it is for or for a moment by others. An expired lease is renewed all the
 * same as long as nobody has taken it over: a process that was suspended for a while need not begin again.
 */
export function renewLease(
  pool: Pool,
  name: string,
  token: string,
  lifeMs: number,
  answerWithinMs: number,
): Promise<z.infer<typeof Renewal>> {
  return findValue(
    answeringWithin(pool, answerWithinMs),
    Renewal,
    `with mine as (
       select name from ferry.leases where name = $1 and token = $2 for no key update skip locked
     ), renewed as (
       update ferry.leases l set expires_at = clock_timestamp() + $3 * interval '1 ms'
       from mine where l.name = mine.name returning 1
     )
     select case when exists (select from renewed) then 'renewed'
       when exists (select from ferry.leases where name = $1 and token = $2) then 'in use'
       else 'lost' end`,
    [name, token, lifeMs],
  )
}

const Renewal = z.enum(['renewed', 'in use', 'lost'])

/** False if the lease has expired, or another worker has it. Otherwise it is in use until the transaction ends. */
export function lockLease(
  client: Queryable,
  { name, token }: { readonly name: string; readonly token: string },
): Promise<boolean> {
  return findValue(client, z.boolean(), 'select ferry_internal.lock_lease($1, $2, true)', [name, token])
}

/**
 * Gives a lease up: alone, or in the transaction that records the end of its work, so that both happen or neither. Returns
 * false if another worker has taken it over; that it expired does no harm until then.
 */
export async function endLease(
  client: Pool | PoolClient,
  { name, token }: { readonly name: string; readonly token: string },
): Promise<boolean> {
  const ended = await drizzleOf(client)
    .delete(leases)
    .where(and(eq(leases.name, name), eq(leases.token, token)))
  return countOf(ended) === 1
}

/** In how many milliseconds each of these leases expires, less than 0 if it has; nothing for one that nobody holds. */
export async function loadLeaseEnds(
  client: Pool | PoolClient,
  names: readonly string[],
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map()
  const rows = await drizzleOf(client)
    .select({
      name: leases.name,
      endsInMs: sql`extract(epoch from ${leases.expires_at} - clock_timestamp())::float8 * 1000`.mapWith(
        z.number().parse,
      ),
    })
    .from(leases)
    .where(inArray(leases.name, [...names]))
  return new Map(rows.map(({ name, endsInMs }) => [name, endsInMs]))
}

/** SQL that says whether a worker has the lease now; `name` is SQL for its name, and names no table as `held`. */
export function isHeldInSql(name: string): string {
  return `exists (select from ferry.leases held where held.name = ${name} and held.expires_at > clock_timestamp())`
}

/** SQL that says whether the lease, expired or not, is still that of `token`: no other worker has taken it. */
export function isOwnedInSql(name: SQL, token: SQL): SQL {
  return sql`exists (select from ferry.leases owned where owned.name = ${name} and owned.token = ${token})`
}

/**
 * SQL for the names and tokens of the leases that expired `agoMs` ago or earlier, and are not in use: a lease whose row is
 * locked is left out. `for key share` conflicts with that lock alone, so it keeps nobody from taking or renewing a lease.
 */
export function expiredInSql(agoMs: number): SQL {
  return sql`select name, token from ferry.leases
    where expires_at <= clock_timestamp() - ${agoMs} * interval '1 ms' for key share skip locked`
}
