import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, namedRowsOf } from '#src/db/rows.ts'
import { readCount, streamRows } from '#src/db/stream-rows.ts'
import { VERSIONS } from '#src/inventory/versioned-tables.ts'
import { endOfMillisecond } from '#src/model/instant.ts'
import type { Resource } from '#src/model/resource.ts'
import { hasEachWord, paramsInto } from './list-order.ts'

/** Which rules or servers are wanted; what is left out does not narrow them. */
export type InventoryFilter = {
  /** As they were then; unset: as they are now. */
  readonly asOf?: Date | undefined
  readonly account?: string | undefined
  /** A part of the name, whatever its case. */
  readonly name?: string | undefined
  /** Parts of the name or of the labels of a rule, of the name, description or address of a server, whatever their case. */
  readonly words?: string | undefined
  readonly enabled?: boolean | undefined
  /** Of rules. */
  readonly folder?: bigint | undefined
  readonly firing?: boolean | undefined
  readonly label?: Readonly<Record<string, string>> | undefined
  /** The name of a rule's, the number of a server's. */
  readonly team?: string | bigint | undefined
}

/** The moment at which they are wanted, as Postgres compares it. */
export function momentOf({ asOf }: Pick<InventoryFilter, 'asOf'>): string {
  return asOf ? endOfMillisecond(asOf) : 'infinity'
}

/** A row of the views: the contract's fields under their names, ids and 64-bit integers as text. */
export type InventoryRow = Readonly<Record<string, unknown>> & { readonly account: string }
/** Nothing is known of its other columns. A loose object would copy them, which takes 17 µs a row instead of 1 µs. */
const InventoryRow = z.custom<InventoryRow>(row => Account.safeParse(row).success)
const Account = z.object({ account: z.string() })

/** A row of a page, with its place in the list: what the list is ordered by, as text. */
export type InventoryPlace = readonly [string, string, string, string, string]
export type PagedRow = InventoryRow & { readonly place: InventoryPlace }
export const PagedRow = z.custom<PagedRow>(row => Placed.safeParse(row).success)
const Placed = Account.extend({ place: z.array(z.string()).length(5) })

/** Yields rules or servers by name, at most `limit`. */
export function listInventory(
  pool: Pool,
  resource: Resource,
  filter: InventoryFilter,
  limit: number | null,
): AsyncGenerator<InventoryRow> {
  const { from, params } = selected(resource, filter)
  const { nameColumn, idColumn } = VERSIONS[resource]
  params.push(limit)
  return streamRows(
    pool,
    page => namedRowsOf(InventoryRow, page),
    `select v.* ${from} order by v.${nameColumn}, v.account, v.${idColumn} limit $${params.length}::int`,
    params,
  )
}

/** How many there are. Stops counting at `atMost`. */
export function countInventory(
  pool: Pool,
  resource: Resource,
  filter: InventoryFilter,
  atMost: number,
): Promise<number> {
  const { from, params } = selected(resource, filter)
  params.push(atMost)
  const sum = `select count(*)::int from (select ${from} limit $${params.length}::int) v`
  return readCount(pool, sum, params)
}

/**
 * The last version of a rule or server in each account that knew it by `asOf`. `valid_to` and `closed_by_run` are set if
 * it was gone by then. Fails if the history starts later.
 */
export async function loadInventory(
  pool: Pool,
  resource: Resource,
  id: string,
  filter: Pick<InventoryFilter, 'asOf' | 'account'>,
): Promise<InventoryRow[]> {
  const { name: table, idColumn, idType } = VERSIONS[resource]
  const found = await pool.query(
    `select distinct on (v.account) v.*,
       case when v.valid_to > $2::timestamptz then null else v.valid_to end as valid_to,
       case when v.valid_to > $2::timestamptz then null else v.closed_by_run end as closed_by_run
     from ${table} v
     where v.${idColumn} = $1::${idType} and v.valid_from <= $2::timestamptz and ($3::text is null or v.account = $3)
       and ferry_internal.expect_history($2::timestamptz)
     order by v.account, v.valid_from desc`,
    [id, momentOf(filter), filter.account ?? null],
  )
  return namedRowsOf(InventoryRow, found).map(({ words: _, ...row }) => row)
}

const FiringRow = z.object({ account: z.string(), began: z.date(), ended: z.date().nullable() })
export type FiringRow = Readonly<z.infer<typeof FiringRow>>

/** The last firings of a rule that began by `asOf`, the newest first. */
export function listFirings(
  pool: Pool,
  rule: { id: string; account: string },
  asOf: Date | undefined,
  limit: number,
): Promise<FiringRow[]> {
  return findAll(
    pool,
    FiringRow,
    `select account, began, case when ended > $3::timestamptz then null else ended end as ended
     from ferry.alert_rule_firings where id = $1::numeric and account = $2 and began <= $3::timestamptz
     order by began desc limit $4`,
    [rule.id, rule.account, momentOf({ asOf }), limit],
  )
}

/** The views of each resource, and the conditions on their rows. None of it comes from input. */
const VIEWS = {
  'alert-rules': {
    now: 'ferry.alert_rules',
    asOf: 'ferry.alert_rules_as_of',
    enabled: 'v.enabled',
    words: `lower(v.name || ' ' || coalesce(v.labels::text, ''))`,
  },
  'mcp-servers': {
    now: 'ferry.mcp_servers',
    asOf: 'ferry.mcp_servers_as_of',
    enabled: `(v.status is not distinct from 'enabled')`,
    words: `lower(concat_ws(' ', v.server_name, v.description, v.url))`,
  },
} as const

/** The rows `v` that match. */
export function selected(resource: Resource, filter: InventoryFilter): { from: string; params: unknown[] } {
  const { now, asOf, enabled, words } = VIEWS[resource]
  const { nameColumn } = VERSIONS[resource]
  const params: unknown[] = []
  const param = paramsInto(params)
  const source = filter.asOf ? `${asOf}(${param(momentOf(filter), 'timestamptz')})` : now
  const wanted = ['true', ...hasEachWord(words, filter.words, param)]
  if (filter.account !== undefined) wanted.push(`v.account = ${param(filter.account, 'text')}`)
  if (filter.name !== undefined)
    wanted.push(`strpos(lower(v.${nameColumn}), lower(${param(filter.name, 'text')})) > 0`)
  if (filter.enabled !== undefined) wanted.push(`${filter.enabled ? '' : 'not '}${enabled}`)
  if (filter.folder !== undefined) wanted.push(`v.folder_id = ${param(filter.folder, 'numeric')}`)
  if (filter.firing !== undefined) wanted.push(`v.triggered = ${param(filter.firing, 'boolean')}`)
  if (filter.label !== undefined) wanted.push(`v.labels @> ${param(JSON.stringify(filter.label), 'jsonb')}`)
  if (filter.team !== undefined) wanted.push(`v.team_id = ${param(filter.team, 'numeric')}`)
  return { from: `from ${source} v where ${wanted.join(' and ')}`, params }
}
