import type { Pool } from 'pg'
import { readOne, streamRows } from '#src/db/stream-rows.ts'
import type { Resource } from '#src/model/resource.ts'
import { VERSIONS } from './versioned-tables.ts'

export type SnapshotDifference = {
  readonly resource: Resource
  readonly change: 'added' | 'changed' | 'removed'
  readonly id: string
  readonly name: string | null
  /** The folder of a rule, the team of a server. */
  readonly folder: string | null
  /** Who last updated a rule that was added or changed. */
  readonly by: string | null
  /** Of a change, the names of the fields that differ. */
  readonly fields: readonly string[]
  /** These fields on both sides, as JSON text: ids in it may exceed 2^53. */
  readonly before: string | null
  readonly after: string | null
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

/** Yields what was added, changed and removed from instant `a` to instant `b`, at most `limit`. `a` may be the later one. */
export function listDifferences(
  pool: Pool,
  { account, a, b }: Pair,
  limit: number | null,
): AsyncGenerator<SnapshotDifference> {
  return streamRows<SnapshotDifference>(
    pool,
    `with found as materialized (${FOUND} order by resource, change, name, id limit $4::int)
     select f.resource, f.change, f.id, f.name, f.folder, case when f.change <> 'removed' then f.by end as by,
       coalesce(d.fields, '{}') as fields, d.before::text as before, d.after::text as after
     from found f left join lateral (
       ${fieldsOf('alert-rules')} union all ${fieldsOf('mcp-servers')}
     ) d on f.change = 'changed'
     order by f.resource, f.change, f.name, f.id`,
    [account, a, b, limit],
  )
}

export async function countDifferences(pool: Pool, { account, a, b }: Pair): Promise<number> {
  const sum = `select count(*)::int as n from (${FOUND}) f`
  return (await readOne<{ n: number }>(pool, sum, [account, a, b])).n
}

/** The columns of a row's folder or team, and of who updated it last. None of it comes from input. */
const COLUMNS = {
  'alert-rules': { folder: 'folder_id', by: 'updater_name' },
  'mcp-servers': { folder: 'team_id', by: null },
} as const

/**
 * The rows that differ. Each has a version that began or ended between the two instants, so only such versions are read,
 * however many rules there are and however long their history is.
 */
const FOUND = `${foundIn('alert-rules')} union all ${foundIn('mcp-servers')}`

function foundIn(resource: Resource): string {
  const { name: table, idColumn: id, nameColumn: name } = VERSIONS[resource]
  const { folder, by } = COLUMNS[resource]
  const between = (at: string) =>
    `select v.${id} from ${table} v where v.account = $1 and v.${at} > least($2::timestamptz, $3::timestamptz)
       and v.${at} <= greatest($2::timestamptz, $3::timestamptz)`
  const byOf = (side: string) => (by === null ? 'null' : `${side}.${by}`)
  return `
    select '${resource}' as resource,
      case when a.${id} is null then 'added' when b.${id} is null then 'removed' else 'changed' end as change,
      c.${id}::text as id, coalesce(b.${name}, a.${name}) as name, coalesce(b.${folder}, a.${folder})::text as folder,
      ${byOf('b')}::text as by, a.valid_from as a_from, b.valid_from as b_from
    from (${between('valid_from')} union ${between('valid_to')}) c
    left join lateral (${versionAt(resource, '$2')}) a on true
    left join lateral (${versionAt(resource, '$3')}) b on true
    where a.fingerprint is distinct from b.fingerprint`
}

/** The version that was valid at an instant: the last one that began by then, if it had not ended. */
function versionAt(resource: Resource, at: string): string {
  const { name: table, idColumn: id } = VERSIONS[resource]
  return `select * from (
      select * from ${table} v where v.${id} = c.${id} and v.account = $1 and v.valid_from <= ${at}::timestamptz
      order by v.valid_from desc limit 1
    ) v where v.valid_to is null or v.valid_to > ${at}::timestamptz`
}

/** The fields of the contract that differ between two versions of one row. */
function fieldsOf(resource: Resource): string {
  const { name: table, idColumn: id, idType: type } = VERSIONS[resource]
  const side = (from: string) =>
    `(select * from ${table} v where v.${id} = f.id::${type} and v.account = $1 and v.valid_from = f.${from})`
  return `
    select array_agg(n.key order by n.key) as fields, jsonb_object_agg(n.key, o.value) as before,
      jsonb_object_agg(n.key, n.value) as after
    from ${side('a_from')} a cross join ${side('b_from')} b
      cross join jsonb_each(to_jsonb(b)) n join jsonb_each(to_jsonb(a)) o on o.key = n.key
    where f.resource = '${resource}' and n.value is distinct from o.value and n.key <> all
      ('{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,team}'::text[])
    having count(*) > 0`
}
