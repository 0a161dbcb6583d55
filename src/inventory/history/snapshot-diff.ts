import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, rowsOf } from '#src/db/rows.ts'
import { readCount, streamRows } from '#src/db/stream-rows.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { DIFFERENCE_KINDS, differing, fieldsOf } from './two-moments.ts'

/** What differs. All that a first reading found can be one entry: then `id` is empty, and `rows` says how many it found. */
export const SnapshotDifference = z.object({
  resource: z.enum(RESOURCES),
  account: z.string(),
  change: z.enum(DIFFERENCE_KINDS),
  id: z.string(),
  name: z.string().nullable(),
  /** The folder of a rule, the team of a server. */
  folder: z.string().nullable(),
  /** Who last edited a rule that was added or changed; null if unknown. */
  by: z.string().nullable(),
  /** Of a change, the names of the fields that differ. */
  fields: z.array(z.string()),
  /** These fields on both sides, as JSON text: ids in it may exceed 2^53. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  rows: z.number().nullable(),
})
export type SnapshotDifference = Readonly<z.infer<typeof SnapshotDifference>>

/** Two instants of one account, from `a` to `b`. */
export type Pair = { readonly account: string; readonly a: string; readonly b: string }

/** No snapshot has this id, or the two belong to different accounts. */
export class NoSuchSnapshot extends Error {
  override readonly name = 'NoSuchSnapshot'
}

/** The instants of two snapshots of one account. Throws `NoSuchSnapshot`. */
export async function findPair(
  pool: Pool,
  a: bigint,
  b: bigint,
  account: string | null = null,
): Promise<Pair> {
  const rows = await findAll(
    pool,
    TakenSnapshot,
    'select id, account, taken_at::text from ferry.snapshots where id in ($1, $2)',
    [a, b],
  )
  const find = (id: bigint) => {
    const found = rows.find(row => row.id === `${id}`)
    if (!found)
      throw new NoSuchSnapshot(`snapshot ${id} does not exist; \`ferry snapshots list\` shows all snapshots`)
    return found
  }
  const [first, second] = [find(a), find(b)]
  if (first.account !== second.account) {
    throw new NoSuchSnapshot(
      `the snapshots ${a} and ${b} belong to different accounts, so they have nothing in common`,
    )
  }
  if (account !== null && first.account !== account) {
    throw new NoSuchSnapshot(
      `the snapshots ${a} and ${b} belong to account ${first.account}, not to ${account}`,
    )
  }
  return { account: first.account, a: first.takenAt, b: second.takenAt }
}

/** The instants of the last two snapshots of the account, or of the only one that has any. Throws `NoSuchSnapshot`. */
export async function findLastPair(pool: Pool, account: string | null): Promise<Pair> {
  const rows = await findAll(
    pool,
    TakenSnapshot,
    `select id, account, taken_at::text from (
       select s.*, row_number() over (partition by account order by s.taken_at desc, id desc) as nth from ferry.snapshots s
       where account = coalesce($1, account)
     ) s where nth <= 2 order by account, nth`,
    [account],
  )
  const accounts = new Set(rows.map(row => row.account))
  if (accounts.size > 1) {
    throw new NoSuchSnapshot(
      `there are snapshots of the accounts ${[...accounts].join(', ')}; name one with --account, or two snapshots`,
    )
  }
  const [last, before] = rows
  if (!last || !before) {
    const what = account === null ? 'there are' : `account ${account} has`
    throw new NoSuchSnapshot(`${what} no two snapshots yet; \`ferry snapshots list\` shows all snapshots`)
  }
  return { account: last.account, a: before.takenAt, b: last.takenAt }
}

const TakenSnapshot = z.object({ id: z.string(), account: z.string(), takenAt: z.string() })

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
  const inventories = RESOURCES.map(
    resource => `
    select f.resource, f.account, f.change, f.id, f.name, f.folder, f.by,
      array(select name from jsonb_object_keys(d.before) as name order by name) as fields,
      d.before::text as before, d.after::text as after, f.rows
    from (${isGrouped ? grouped(resource) : found(resource)} order by change, name, id limit $4::int) f
    left join lateral ${fieldsOf(resource)} d on true`,
  )
  return streamRows(
    pool,
    page => rowsOf(SnapshotDifference, page),
    `${inventories.join(' union all ')} order by resource, change, name, id limit $4::int`,
    [account, a, b, limit],
  )
}

/** How many entries there are if what a first reading found is one. */
export function countDifferences(pool: Pool, { account, a, b }: Pair): Promise<number> {
  const entries = RESOURCES.map(resource => `select change from (${grouped(resource)}) f`)
  const sum = `select count(*)::int from (${entries.join(' union all ')}) f`
  return readCount(pool, sum, [account, a, b])
}

function found(resource: Resource): string {
  return `
    select f.*, null::int as rows from (${differing(resource, '$2::timestamptz', '$3::timestamptz')}) f where account = $1`
}

/** What a first reading found is one entry. */
function grouped(resource: Resource): string {
  return `
    select * from (${found(resource)}) f where change <> 'first reading'
    union all
    select resource, account, null, change, '', null, null, null, null, null, count(*)::int from (${found(resource)}) f
    where change = 'first reading' group by resource, account, change`
}
