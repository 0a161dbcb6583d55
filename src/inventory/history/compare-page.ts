import type { Pool } from 'pg'
import { z } from 'zod'
import { findMaybe, findOne, findValue } from '#src/db/rows.ts'
import { VERSIONS } from '#src/inventory/versioned-tables.ts'
import type { Resource } from '#src/model/resource.ts'
import { shortFields } from './change-row.ts'
import { SnapshotDifference } from './snapshot-diff.ts'
import { DIFFERENCE_KINDS, type DifferenceKind, differing, differingOf, fieldsOf } from './two-moments.ts'

/*
 * What differs in an inventory between two moments, a page at a time, in the order of the ids.
 *
 * If few versions began or ended between the moments, only their rows are compared, and all that differ are counted. If
 * there are many, most rows differ: then rows are compared one after another, a bounded number for each page.
 */

/** Comparing the rows of this many versions takes a tenth of a second. */
const MAX_BETWEEN = 5_000
/** If there are more versions, at most this many rows are compared for one page. */
const MAX_EXAMINED = 3_000

export type Moments = {
  /** Instants as Postgres writes them, or as ISO 8601. `from` may be the later one. */
  readonly from: string
  readonly to: string
  readonly account?: string | undefined
  /** Undefined: all but what a first reading found, see `loadFirstRead`. */
  readonly kind?: DifferenceKind | undefined
}

const PagedDifference = SnapshotDifference.omit({ fields: true, rows: true })
export type PagedDifference = Readonly<z.infer<typeof PagedDifference>>

/** A row after which a page goes on. */
const DifferenceKey = z.object({ id: z.string(), account: z.string() })
export type DifferenceKey = Readonly<z.infer<typeof DifferenceKey>>

export type DifferencePage = {
  readonly differences: readonly PagedDifference[]
  /** Null: this is the last page. */
  readonly next: DifferenceKey | null
  /** How many rows differ in all; null: too many to count. */
  readonly counts: Readonly<Record<DifferenceKind, number>> | null
}

const Found = z.object({
  rows: z.array(PagedDifference),
  counts: z.record(z.enum(DIFFERENCE_KINDS), z.number()).nullable(),
  end: DifferenceKey.nullable(),
})

/** Returns at most `rows` differences after a place in the list. */
export async function loadDifferencePage(
  pool: Pool,
  resource: Resource,
  moments: Moments,
  { after, rows }: { readonly after: DifferenceKey | null; readonly rows: number },
  { maxBetween = MAX_BETWEEN, maxExamined = MAX_EXAMINED } = {},
): Promise<DifferencePage> {
  const isMany = await hasMoreBetween(pool, resource, moments, maxBetween)
  const sql = isMany ? walkSql(resource, maxExamined) : betweenSql(resource)
  const { from, to, account, kind } = moments
  const params = [
    from,
    to,
    account ?? null,
    kind ?? null,
    after?.id ?? null,
    after?.account ?? null,
    rows + 1,
  ]
  const found = await findOne(pool, Found, sql, params)
  const differences = found.rows.slice(0, rows)
  const next = found.rows.length > rows ? (differences.at(-1) ?? null) : found.end
  return { differences, next, counts: isMany ? null : found.counts }
}

const [A, B, ACCOUNT, KIND, ROWS] = ['$1::timestamptz', '$2::timestamptz', '$3::text', '$4::text', '$7::int']

const IS_ASKED_FOR = `case when ${KIND} is null then f.change <> 'first reading' else f.change = ${KIND} end`

/** What first readings found between the moments: one entry, however many rows, readings and accounts. */
const FirstRead = z.object({ rows: z.number(), accounts: z.array(z.string()) })
export type FirstRead = Readonly<z.infer<typeof FirstRead>>

/** Null if there was no first reading. */
export function loadFirstRead(
  pool: Pool,
  resource: Resource,
  { from, to, account }: Moments,
): Promise<FirstRead | null> {
  return findMaybe(
    pool,
    FirstRead,
    `select sum(first_read)::int as rows, array_agg(distinct account order by account) as accounts from ferry.sync_runs
     where first_read > 0 and resource = $4 and applied_at > ${A} and applied_at <= ${B} and (${ACCOUNT} is null or account = ${ACCOUNT})
     having count(*) > 0`,
    [from, to, account ?? null, resource],
  )
}

function hasMoreBetween(pool: Pool, resource: Resource, { from, to }: Moments, most: number) {
  const { name: table } = VERSIONS[resource]
  const between = (at: string) =>
    `(select count(*) from (select from ${table} v
      where v.${at} > least(${A}, ${B}) and v.${at} <= greatest(${A}, ${B}) limit $3::int + 1) v)`
  return findValue(
    pool,
    z.boolean(),
    `select greatest(${between('valid_from')}, ${between('valid_to')}) > $3::int`,
    [from, to, most],
  )
}

/** Compares the rows that have a version between the moments. */
function betweenSql(resource: Resource): string {
  return `
    with found as materialized (${differing(resource, A, B)} where ${ACCOUNT} is null or d.account = ${ACCOUNT}),
    page as materialized (
      select * from found f where ${IS_ASKED_FOR} and ${isAfter(resource, 'f.key', 'f.account')}
      order by f.key, f.account limit ${ROWS}
    )
    select ${pageOf(resource)} as rows, null as end,
      (select jsonb_build_object(${DIFFERENCE_KINDS.map(one => `'${one}', count(*) filter (where f.change = '${one}')`)}) from found f) as counts`
}

/** Compares all rows, one after another along the primary key, until the page is full or `maxExamined` were compared. */
function walkSql(resource: Resource, maxExamined: number): string {
  const { name: table, idColumn: id } = VERSIONS[resource]
  const next = (after: string) =>
    `select v.${id}, v.account from ${table} v where ${after} order by v.${id}, v.account limit 1`
  const ids = `select * from examined e where ${ACCOUNT} is null or e.account = ${ACCOUNT}`
  return `
    with recursive walk as (
      (${next(isAfter(resource, `v.${id}`, 'v.account'))})
      union all
      select n.* from walk w cross join lateral (${next(`(v.${id}, v.account) > (w.${id}, w.account)`)}) n
    ),
    examined as materialized (select * from walk limit ${Math.round(maxExamined)}),
    page as materialized (
      select * from (${differingOf(resource, ids, A, B)}) f where ${IS_ASKED_FOR} limit ${ROWS}
    )
    select ${pageOf(resource)} as rows, null as counts, (
      select jsonb_build_object('id', e.${id}::text, 'account', e.account) from examined e
      where (select count(*) from page) < ${ROWS} offset ${Math.round(maxExamined) - 1}
    ) as end`
}

/** Without a place, after what is before every id: so that the primary key leads to it, whatever is given. */
function isAfter(resource: Resource, id: string, account: string): string {
  const { idType } = VERSIONS[resource]
  const first = idType === 'numeric' ? '-1' : `''`
  return `(${id}, ${account}) > (coalesce($5::${idType}, ${first}), coalesce($6::text, ''))`
}

/** The rows of the page with the fields that differ, as one JSON document. */
function pageOf(resource: Resource): string {
  return `coalesce((
    select jsonb_agg(jsonb_build_object('resource', f.resource, 'account', f.account, 'change', f.change, 'id', f.id,
      'name', left(f.name, 1000), 'folder', f.folder, 'by', left(f.by, 1000), 'before', ${shortFields('d.before')}, 'after', ${shortFields('d.after')}) order by f.key, f.account)
    from page f left join lateral ${fieldsOf(resource)} d on true
  ), '[]')`
}
