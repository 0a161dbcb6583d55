import type { Pool } from 'pg'
import { readOne, streamRows } from '#src/db/stream-rows.ts'
import type { Resource } from '#src/model/resource.ts'
import { VERSIONS } from './versioned-tables.ts'

/** Which events of the history are wanted; what is left out does not narrow them. */
export type ChangeFilter = {
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  readonly account?: string | undefined
  /** The name of the person who updated a rule last. Removals and MCP servers name nobody. */
  readonly by?: string | undefined
  readonly rule?: bigint | undefined
  readonly server?: string | undefined
}

export const CHANGE_KINDS = ['added', 'changed', 'removed', 'returned', 'first reading'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/**
 * One event in the life of a rule or server. What a first reading found is one event, unless one rule or server is asked for:
 * then `id` is empty, and `rows` says how many it found.
 */
export type ChangeRow = {
  readonly resource: Resource
  readonly account: string
  readonly id: string
  readonly name: string | null
  readonly change: ChangeKind
  readonly at: Date
  readonly run: string
  readonly by: string | null
  /** The fields that a change or a return altered, as JSON text: ids in it may exceed 2^53. */
  readonly before: string | null
  readonly after: string | null
  readonly rows: number | null
}

/** Yields the events that match `filter`, the newest first, at most `limit`. */
export function listChanges(
  pool: Pool,
  filter: ChangeFilter,
  limit: number | null,
): AsyncGenerator<ChangeRow> {
  const { sql, params } = eventsOf(filter, limit)
  return streamRows<ChangeRow>(
    pool,
    `with page as (${sql})
     select p.resource, p.account, p.id, c.name, c.change, p.at, c.run, c.by, c.before, c.after, c.rows
     from page p cross join lateral (${contentsOf('p')}) c
     order by p.at desc, p.resource, p.account, c.name, p.id`,
    params,
  )
}

/** How many events there are. Stops counting at `atMost`. */
export async function countChanges(pool: Pool, filter: ChangeFilter, atMost: number): Promise<number> {
  const { sql, params } = eventsOf(filter, atMost)
  const sum = `select count(*)::int as events from (${sql}) e`
  return (await readOne<{ events: number }>(pool, sum, params)).events
}

/**
 * What happened in the event of a row `key`, which names its resource, account, id, `rule_id` (of a rule) and instant `at`.
 * Its id is empty for what a first reading found. With `cut`, long values are cut: a page would otherwise hold megabytes.
 */
export function contentsOf(key: string, { cut = false } = {}): string {
  const [before, after] = ['before', 'after'].map(fields => (cut ? shortFields(fields) : `${fields}::text`))
  const short = (column: string) => (cut ? `left(${column}, ${MAX_CUT_NAME})` : column)
  const kind = `case when first_reading then 'first reading' else change end`
  return `
    select ${short('name')} as name, ${kind} as change, run_id as run, ${short('updater_name')} as by, ${before} as before, ${after} as after, null::int as rows
    from ferry.alert_rule_changes c where ${key}.resource = 'alert-rules' and c.id = ${key}.rule_id and c.account = ${key}.account and c.observed_at = ${key}.at
    union all
    select ${short('server_name')}, ${kind}, run_id, null, ${before}, ${after}, null from ferry.mcp_server_changes c
    where ${key}.resource = 'mcp-servers' and c.server_id = ${key}.id and c.account = ${key}.account and c.observed_at = ${key}.at
    union all
    select null, 'first reading', r.id, null, null, null, r.first_read from ferry.sync_runs r
    where ${key}.id = '' and r.account = ${key}.account and r.resource = ${key}.resource and r.applied_at = ${key}.at and r.first_read > 0`
}

const MAX_CUT_NAME = 1_000
/** In bytes: of a text, and of a list or of labels as JSON. */
const MAX_CUT_TEXT = 5_000
const MAX_CUT_LIST = 20_000

/**
 * SQL for fields as JSON text, in which longer values are cut. What was cut ends with its length and a hash, so that values
 * that differ stay different.
 */
export function shortFields(fields: string): string {
  return `(
    select jsonb_object_agg(f.key, case
      when octet_length(t.text) <= case jsonb_typeof(f.value) when 'string' then ${MAX_CUT_TEXT} else ${MAX_CUT_LIST} end
        then f.value
      else to_jsonb(left(t.text, ${MAX_CUT_TEXT}) || '… (' || octet_length(t.text) || ' bytes, ' || left(md5(t.text), 8) || ')')
      end)::text
    from jsonb_each(${fields}) f
    cross join lateral (select f.value #>> '{}' as text offset 0) t)`
}

/** Before it, nobody knows whether a version had one before it: see `ferry.alert_rule_changes`. */
export const START = '(select ferry.history_start())'

/** Whether version `v` is an event of its own: what a first reading found is one event. */
export const IS_NO_FIRST_READING = `v.appeared is distinct from 'first reading'`

type Query = { readonly sql: string; readonly params: unknown[] }

/**
 * The keys of the events, newest first, without their contents. Two indexes of each inventory serve it, read backwards.
 *
 * Most versions that ended are followed by the next version at the same instant. So once the page is full of versions that
 * began, versions that ended before the oldest of them are skipped: a page costs what it holds, however long the history is.
 */
function eventsOf(filter: ChangeFilter, limit: number | null): Query {
  const params: unknown[] = [limit]
  const param = (value: unknown, type: string) => `$${params.push(value)}::${type}`
  const conditions = [
    filter.account === undefined ? '' : ` and v.account = ${param(filter.account, 'text')}`,
    filter.rule === undefined ? '' : ` and v.id = ${param(filter.rule, 'numeric')}`,
    filter.server === undefined ? '' : ` and v.server_id = ${param(filter.server, 'text')}`,
  ].join('')
  const by =
    filter.by === undefined ? '' : ` and v.appeared is null and v.updater_name = ${param(filter.by, 'text')}`
  const isOfOne = (filter.rule ?? filter.server) !== undefined
  const since = filter.since === undefined ? `'-infinity'::timestamptz` : param(filter.since, 'timestamptz')
  const until = filter.until === undefined ? `'infinity'::timestamptz` : param(filter.until, 'timestamptz')
  const resources: Resource[] = []
  if (filter.server === undefined) resources.push('alert-rules')
  if (filter.rule === undefined && filter.by === undefined) resources.push('mcp-servers')

  const began = (resource: Resource) =>
    `${found(resource, 'valid_from')} where v.valid_from >= ${since} and v.valid_from >= ${START} and v.valid_from <= ${until}${conditions}${by}${isOfOne ? '' : ` and ${IS_NO_FIRST_READING}`}
     order by v.valid_from desc limit $1::int`
  const ended = (resource: Resource, n: number) =>
    `${found(resource, 'valid_to')}
     where v.valid_to is not null and v.valid_to >= ${since} and v.valid_to >= ${START} and v.valid_to <= ${until}
       and v.valid_to >= (select case when count(*) >= $1::int then min(at) else '-infinity' end from began_${n})${conditions}
       and not exists (${successor(resource)})
     order by v.valid_to desc limit $1::int`
  // A parameter that no text names is an error: it is written only where it is used.
  const readFirst = () => {
    const ofAccount = filter.account === undefined ? '' : ` and r.account = ${param(filter.account, 'text')}`
    return `(
      select r.resource, r.account, '' as id, null::numeric as rule_id, r.applied_at as at from ferry.sync_runs r
      where r.first_read > 0 and r.applied_at >= ${since} and r.applied_at >= ${START} and r.applied_at <= ${until}${ofAccount}
      order by r.applied_at desc limit $1::int)`
  }
  const lists = resources.map((resource, n) => `began_${n} as materialized (${began(resource)})`)
  const parts = resources.flatMap((resource, n) => [
    `select * from began_${n}`,
    ...(by ? [] : [`(${ended(resource, n)})`]),
  ])
  const all = [...parts, ...(isOfOne || by ? [] : [readFirst()])].join(' union all ')
  return {
    sql: `with ${lists.join(', ')} select * from (${all}) e order by at desc, resource, account, id limit $1::int`,
    params,
  }
}

function found(resource: Resource, at: 'valid_from' | 'valid_to'): string {
  const { name: table, idColumn, idType } = VERSIONS[resource]
  const ruleId = idType === 'numeric' ? `v.${idColumn}` : 'null::numeric'
  return `select '${resource}' as resource, v.account, v.${idColumn}::text as id, ${ruleId} as rule_id, v.${at} as at
    from ${table} v`
}

/** `offset 0` makes Postgres look it up row by row: as a join, it would read the whole history first. */
function successor(resource: Resource): string {
  const { name: table, idColumn } = VERSIONS[resource]
  return `select from ${table} n where n.${idColumn} = v.${idColumn} and n.account = v.account and n.valid_from = v.valid_to offset 0`
}
