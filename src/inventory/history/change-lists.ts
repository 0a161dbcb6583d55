import { z } from 'zod'
import { VERSIONS } from '#src/inventory/versioned-tables.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import type { ChangeKind } from './change-kinds.ts'
import type { ChangeFilter } from './change-row.ts'

/*
 * The SQL of the six lists that changes are merged from: see changes.ts.
 */

export type ChangePageFilter = ChangeFilter & {
  readonly resource?: Resource | undefined
  readonly kind?: ChangeKind | undefined
  /** Of rules: servers are in no folder. */
  readonly folder?: bigint | undefined
}

/** The place of an event in the list: when it was observed, as Postgres writes it, and of what. A first reading has no id. */
export const ChangeKey = z.tuple([z.string(), z.enum(RESOURCES), z.string(), z.string()]).readonly()
export type ChangeKey = readonly [at: string, resource: Resource, account: string, id: string]

/** The versions of a resource that began, those that ended and have no successor, or its first readings. */
type ChangeList = { readonly resource: Resource; readonly edge: 'began' | 'ended' | 'read' }

/** Adds a parameter and returns its name in the query, with its type. */
type AddParam = (value: unknown, type: string) => string

export type Query = { readonly sql: string; readonly params: readonly unknown[] }

/** Ids of rules are numbers. The end of a list stands after its last event. */
export const ORDER = 'e.at desc, e.resource, e.account, e.rule_id, e.id collate "C", e.is_end'

/**
 * Common table expressions, of which the last, `page`, holds the places of at most `rows` events that match, the newest first.
 * The lists are merged up to the first end of one of them. Null: no event can match. A `maxExamined` of null is no bound.
 */
export function eventsOf(
  filter: ChangePageFilter,
  after: ChangeKey | null,
  rows: number,
  maxExamined: number | null,
): Query | null {
  const params: unknown[] = [rows]
  const lists = listsOf(filter)
  if (lists.length === 0) return null
  const ctes = lists.map(list =>
    ctesOf(list, filter, after, maxExamined, (value, type) => `$${params.push(value)}::${type}`),
  )
  const parts = lists.flatMap(list => {
    const columns =
      list.resource === 'alert-rules'
        ? `${list.edge === 'read' ? "''" : 'id::text'} as id, id as rule_id`
        : 'server_id as id, null::numeric as rule_id'
    const part = (from: string, isEnd: boolean) =>
      `select '${list.resource}' as resource, account, ${columns}, at, ${isEnd} as is_end from ${from}`
    return [part(nameOf(list), false), ...(maxExamined === null ? [] : [part(`${nameOf(list)}_end`, true)])]
  })
  const sql = `${ctes.join(',')},
    merged as (
      select e.*, sum(e.is_end::int) over (order by ${ORDER} rows unbounded preceding) - e.is_end::int as ends_before
      from (${parts.join(' union all ')}) e
    ),
    page as (select * from merged e where e.ends_before = 0 order by ${ORDER} limit $1::int)`
  return { sql, params }
}

/** The lists in which an event that matches may be. */
function listsOf({ resource, kind, folder, by, rule, server }: ChangePageFilter): ChangeList[] {
  const isOfRule = folder !== undefined || by !== undefined || rule !== undefined
  const resources = (['alert-rules', 'mcp-servers'] as const).filter(
    one =>
      (resource === undefined || resource === one) &&
      (one === 'alert-rules' ? server === undefined : !isOfRule),
  )
  const isOfOne = (rule ?? server) !== undefined
  return resources.flatMap(one => [
    ...(kind === 'removed' || (kind === 'first reading' && !isOfOne)
      ? []
      : [{ resource: one, edge: 'began' as const }]),
    ...((kind ?? 'first reading') === 'first reading' && !isOfOne && by === undefined
      ? [{ resource: one, edge: 'read' as const }]
      : []),
    // The platform does not say who removed something.
    ...((kind ?? 'removed') === 'removed' && by === undefined
      ? [{ resource: one, edge: 'ended' as const }]
      : []),
  ])
}

function nameOf({ resource, edge }: ChangeList): string {
  return `${resource === 'alert-rules' ? 'rules' : 'servers'}_${edge}`
}

/**
 * The common table expressions of a list: `name`, at most $1 events that match among at most `maxExamined` versions, and `name_end`, the
 * place up to which these are all. That is empty if they are all there are.
 */
function ctesOf(
  list: ChangeList,
  filter: ChangePageFilter,
  after: ChangeKey | null,
  maxExamined: number | null,
  param: AddParam,
): string {
  const name = nameOf(list)
  const conditions = matchesOf(list, filter, maxExamined !== null, param)
  const examined = `select * from (${examinedOf(list, filter, after, param)}) w`
  const matching = `where ${['true', ...conditions].join(' and ')}`
  const inOrder = `order by w.at desc, w.account, ${inOrderOf(list.resource, 'w')}`
  const full = `select * from ${name} offset $1::int - 1`
  if (maxExamined === null) {
    return `
    ${name} as materialized (${examined} ${matching} ${inOrder} limit $1::int),
    ${name}_end as materialized (${full})`
  }
  const atMost = conditions.length === 0 ? '$1::int' : param(maxExamined, 'int')
  return `
    ${name}_examined as materialized (${examined} ${inOrder} limit ${atMost}),
    ${name} as materialized (select * from ${name}_examined w ${matching} limit $1::int),
    ${name}_end as materialized (
      (${full})
      union all
      (select * from ${name}_examined where (select count(*) from ${name}) < $1::int offset ${atMost} - 1)
    )`
}

/**
 * The versions, to be read backwards along the index of that edge. Most versions that ended are followed by
 * the next at the same instant: of them, only those before the end of the versions that began are of use.
 */
function examinedOf(
  { resource, edge }: ChangeList,
  filter: ChangePageFilter,
  after: ChangeKey | null,
  param: AddParam,
): string {
  const { name: table, idColumn, idType } = VERSIONS[resource]
  const at = INSTANTS[edge]
  const conditions = [`${at} is not null`, `${at} >= ${START}`]
  if (edge === 'read') conditions.push(`v.resource = '${resource}' and v.first_read > 0`)
  if (filter.since) conditions.push(`${at} >= ${param(filter.since, 'timestamptz')}`)
  if (filter.until) conditions.push(`${at} <= ${param(filter.until, 'timestamptz')}`)
  const one = resource === 'alert-rules' ? filter.rule : filter.server
  if (one === undefined && edge === 'began') conditions.push(IS_NO_FIRST_READING)
  if (one !== undefined) {
    conditions.push(`v.${idColumn} = ${param(one, idType)}`)
    if (filter.account !== undefined) conditions.push(`v.account = ${param(filter.account, 'text')}`)
  }
  const place = edge === 'read' ? `(v.account, ${NO_ID[idType]})` : `(v.account, ${inOrderOf(resource, 'v')})`
  if (after) {
    const [instant, of, account, id] = after
    const from = param(instant, 'timestamptz')
    conditions.push(`${at} <= ${from}`)
    if (of === resource) {
      conditions.push(
        `(${at} < ${from} or ${place} > (${param(account, 'text')}, ${id === '' ? NO_ID[idType] : param(id, idType)}))`,
      )
    }
    if (of > resource) conditions.push(`${at} < ${from}`)
  }
  if (edge === 'ended' && filter.kind === undefined) {
    const end = (column: string) => `(select ${column} from ${nameOf({ resource, edge: 'began' })}_end)`
    conditions.push(
      `${at} >= coalesce(${end('at')}, '-infinity')`,
      `coalesce(${at} > ${end('at')} or ${place} <= (${end('account')}, ${end(idColumn)}), true)`,
    )
  }
  if (edge === 'read') {
    return `select v.account, ${NO_ID[idType]} as ${idColumn}, ${at} as at from ferry.sync_runs v
      where ${conditions.join(' and ')}`
  }
  const more = [
    filter.folder === undefined ? '' : ', v.folder_id',
    filter.by === undefined ? '' : ', v.updater_name',
  ]
  return `select v.account, v.${idColumn}, ${at} as at, v.appeared${more.join('')} from ${table} v where ${conditions.join(' and ')}`
}

/** Before it, it is unknown whether a version had a predecessor: see `ferry.alert_rule_changes`. */
const START = '(select ferry.history_start())'

/** Whether version `v` is an event of its own: what a first reading found is one event. */
const IS_NO_FIRST_READING = `v.appeared is distinct from 'first reading'`

const INSTANTS = { began: 'v.valid_from', ended: 'v.valid_to', read: 'v.applied_at' } as const

/** Stands before all ids. */
const NO_ID = { numeric: '-1::numeric', text: `''::text` } as const

/** Texts are compared by their bytes: the database's own order is slower. */
function inOrderOf(resource: Resource, row: string): string {
  const { idColumn, idType } = VERSIONS[resource]
  return idType === 'text' ? `${row}.${idColumn} collate "C"` : `${row}.${idColumn}`
}

/** The conditions that few versions may meet, those that cost most last. */
function matchesOf(
  list: ChangeList,
  filter: ChangePageFilter,
  isBounded: boolean,
  param: AddParam,
): string[] {
  const { resource, edge } = list
  const { name: table, idColumn: id } = VERSIONS[resource]
  const conditions: string[] = []
  if (filter.account !== undefined) conditions.push(`w.account = ${param(filter.account, 'text')}`)
  if (filter.folder !== undefined && edge === 'read') {
    conditions.push(`exists (
      select from ${table} v where v.folder_id = ${param(filter.folder, 'numeric')} and v.valid_from = w.at
        and v.account = w.account and v.appeared = 'first reading')`)
  } else if (filter.folder !== undefined) conditions.push(`w.folder_id = ${param(filter.folder, 'numeric')}`)
  if (filter.by !== undefined)
    conditions.push(
      `w.appeared is null and strpos(lower(w.updater_name), lower(${param(filter.by, 'text')})) > 0`,
    )
  const isOfOne = (filter.rule ?? filter.server) !== undefined
  // The versions of one row are looked up, and so are those of an unknown number. Those of a page are hashed: to look up each would
  // take ten times as long.
  const isAmong = (other: 'valid_from' | 'valid_to') =>
    isOfOne || !isBounded
      ? `exists (select from ${table} o where o.${id} = w.${id} and o.account = w.account and o.${other} = w.at offset 0)`
      : `(w.${id}, w.account, w.at) in (
          select o.${id}, o.account, o.${other} from ${table} o
          where o.${other} >= (select min(at) from ${nameOf(list)}_examined) and o.${other} <= (select max(at) from ${nameOf(list)}_examined))`
  if (edge === 'ended') return [...conditions, `not ${isAmong('valid_from')}`]
  if (filter.kind === undefined || edge === 'read') return conditions
  if (filter.kind === 'first reading') return [...conditions, `w.appeared = 'first reading'`]
  if (isOfOne) conditions.push(`w.appeared is distinct from 'first reading'`)
  if (filter.kind === 'changed') return [...conditions, isAmong('valid_to')]
  const hasEarlier = `exists (
    select from ${table} p where p.${id} = w.${id} and p.account = w.account and p.valid_from < w.at offset 0)`
  return [
    ...conditions,
    `not ${isAmong('valid_to')}`,
    filter.kind === 'added' ? `not ${hasEarlier}` : hasEarlier,
  ]
}
