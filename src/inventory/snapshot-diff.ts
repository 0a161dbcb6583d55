import type { Pool } from 'pg'
import { readOne, streamRows } from '#src/db/stream-rows.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { type DifferenceKind, differingOf, fieldsOf, idsBetween } from './two-moments.ts'

/** What differs. All that a first reading found can be one entry: then `id` is empty, and `rows` says how many it found. */
export type SnapshotDifference = {
  readonly resource: Resource
  readonly account: string
  readonly change: DifferenceKind
  readonly id: string
  readonly name: string | null
  /** The folder of a rule, the team of a server. */
  readonly folder: string | null
  /** Who last updated a rule that was added or changed; null if nobody is known to have done so. */
  readonly by: string | null
  /** Of a change, the names of the fields that differ. */
  readonly fields: readonly string[]
  /** These fields on both sides, as JSON text: ids in it may exceed 2^53. */
  readonly before: string | null
  readonly after: string | null
  readonly rows: number | null
}

/** Two instants of one account, from `a` to `b`. */
export type Pair = { readonly account: string; readonly a: string; readonly b: string }

/** No snapshot has this id, or the two belong to different accounts. */
export class NoSuchSnapshot extends Error {
  override readonly name = 'NoSuchSnapshot'
}

/** The instants of two snapshots of one account. Throws `NoSuchSnapshot`. */
export async function findPair(pool: Pool, a: bigint, b: bigint): Promise<Pair> {
  const { rows } = await pool.query<{ id: string; account: string; taken_at: string }>(
    'select id, account, taken_at::text from ferry.snapshots where id in ($1, $2)',
    [a, b],
  )
  const find = (id: bigint) => {
    const found = rows.find(row => row.id === `${id}`)
    if (!found) throw new NoSuchSnapshot(`there is no snapshot ${id}; \`ferry snapshots list\` shows them`)
    return found
  }
  const [first, second] = [find(a), find(b)]
  if (first.account !== second.account) {
    throw new NoSuchSnapshot(
      `the snapshots ${a} and ${b} belong to different accounts, so they have nothing in common`,
    )
  }
  return { account: first.account, a: first.taken_at, b: second.taken_at }
}

/**
 * Yields what differs from instant `a` to instant `b`, at most `limit`. `a` may be the later one. With `isGrouped`, what a first
 * reading found is one entry.
 */
export function listDifferences(
  pool: Pool,
  { account, a, b }: Pair,
  limit: number | null,
  { isGrouped = false } = {},
): AsyncGenerator<SnapshotDifference> {
  return streamRows<SnapshotDifference>(
    pool,
    `with found as materialized (${isGrouped ? GROUPED : FOUND} order by resource, change, name, id limit $4::int)
     select f.resource, f.account, f.change, f.id, f.name, f.folder, f.by,
       coalesce(d.fields, '{}') as fields, d.before::text as before, d.after::text as after, f.rows
     from found f left join lateral (
       ${fieldsOf('alert-rules')} union all ${fieldsOf('mcp-servers')}
     ) d on f.change = 'changed'
     order by f.resource, f.change, f.name, f.id`,
    [account, a, b, limit],
  )
}

/** How many entries there are if what a first reading found is one. */
export async function countDifferences(pool: Pool, { account, a, b }: Pair): Promise<number> {
  const sum = `select count(*)::int as n from (${GROUPED}) f`
  return (await readOne<{ n: number }>(pool, sum, [account, a, b])).n
}

const FOUND = RESOURCES.map(resource => {
  const [a, b] = ['$2::timestamptz', '$3::timestamptz']
  const found = differingOf(resource, idsBetween(resource, a, b, 'v.account = $1'), a, b)
  return `select resource, account, change, id, name, folder, by, a_from, b_from, null::int as rows from (${found}) found`
}).join(' union all ')

const GROUPED = `
  select * from (${FOUND}) f where change <> 'first reading'
  union all
  select resource, account, change, '', null, null, null, null, null, count(*)::int from (${FOUND}) f
  where change = 'first reading' group by resource, account, change`
