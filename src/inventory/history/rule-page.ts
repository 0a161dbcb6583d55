import type { Pool } from 'pg'
import { type Part, partOf } from '#src/db/list.ts'
import { keyInstant, namedRowsOf } from '#src/db/rows.ts'
import { MAX_LABELS_IN_WORDS, MAX_NAME_IN_WORDS, RULE_NAME_TEXT, RULE_TEXT } from '#src/inventory/schema.ts'
import { expectHistory } from './history-start.ts'
import { type InventoryFilter, type InventoryPlace, momentOf, PagedRow } from './list-inventory.ts'
import {
  type AddParam,
  hasEachWord,
  isAfter,
  type Key,
  orderOf,
  paramsInto,
  type RULE_SORTS,
  type Sort,
} from './list-order.ts'

/*
 * A page of the rules, as they are or were at a moment. What narrows and orders the current ones stands in one index,
 * `alert_rule_versions_current`, which is read whole, without the table. Of an earlier moment, those that have ended since are
 * read beside them. The rules that fire are few: they are looked up one by one.
 */

type RuleSort = (typeof RULE_SORTS)[number]

const WORDS: Key = ['k.words collate "C"', 'text', 0]
const ACCOUNT: Key = ['k.account', 'text', 1]
const ID: Key = ['k.id', 'numeric', 2]
const FOLDER: Key = ['k.folder_id', 'numeric', 3]

const BY: Readonly<Record<RuleSort, Sort>> = {
  name: { keys: [WORDS, ACCOUNT, ID] },
  folder: { keys: [FOLDER, WORDS, ACCOUNT, ID] },
  updated: { keys: [['k.valid_from', 'timestamptz', 4], ACCOUNT, ID], isDown: true },
  'firing since': { keys: [['k.began', 'timestamptz', 4], ACCOUNT, ID] },
}

export type RuleFilter = InventoryFilter & { readonly sort?: RuleSort | undefined }

/** Returns at most `limit` rules after a place. Ordered by since when they fire, only those that do. Fails if the history starts later. */
export async function loadRulePage(
  pool: Pool,
  filter: RuleFilter,
  after: InventoryPlace | null,
  limit: number,
): Promise<Part<PagedRow, InventoryPlace>> {
  if (filter.asOf) await expectHistory(pool, filter.asOf)
  const params: unknown[] = []
  const param = paramsInto(params)
  const at = param(momentOf(filter), 'timestamptz')
  const most = param(limit + 1, 'int')
  const sort = BY[filter.sort ?? 'name']
  const isByFiring = filter.sort === 'firing since'
  const sources = isByFiring || filter.firing ? [firingAt(filter, at)] : versionsAt(filter, at)
  const conditions = [isAfter(sort, after, param), ...hasEachWord('k.words', filter.words, param)]
  if (filter.firing === false) conditions.push(isNotFiring(filter, at))
  const parts = sources.map(source => {
    const narrowed = [source.from, ...narrowing(source, filter, param)].join(' and ')
    const where = [...conditions, ...(source.isRead ? [] : exactly(filter, param))].join(' and ')
    return `(select k.* from (${withWords(source, filter, narrowed)}) k where ${where} order by ${orderOf(sort)} limit ${most})`
  })
  const found = await pool.query(
    `select v.account, v.id, left(v.name, ${MAX_NAME}) as name, v.folder_id, v.team, v.enabled,
       left(v.updater_name, ${MAX_NAME}) as updater_name, v.valid_from, f.began as firing_since, f.began is not null as triggered,
       jsonb_build_array(k.words, k.account, k.id::text, k.folder_id::text, ${keyInstant(isByFiring ? 'k.began' : 'k.valid_from')}) as place
     from (select k.* from (${parts.join(' union all ')}) k order by ${orderOf(sort)} limit ${most}) k
     join ferry.alert_rule_versions v on v.id = k.id and v.account = k.account and v.valid_from = k.valid_from
     left join lateral (${firingOf('k', at)}) f on true
     order by ${orderOf(sort)}`,
    params,
  )
  return partOf(namedRowsOf(PagedRow, found), limit, ({ place }) => place)
}

/**
 * Versions with the words by which they are found and ordered. Of those that are read, they are made once (`offset 0`): it takes
 * longest. Ordered by time, they are made of those of the page alone. Of an earlier moment, the labels of all rules are read only
 * if they are searched.
 */
function withWords(
  { began = 'null::timestamptz', isRead }: Source,
  filter: RuleFilter,
  from: string,
): string {
  const isOfNames = filter.asOf !== undefined && filter.words === undefined
  const [name, whole] = isRead ? [RULE_NAME_TEXT, RULE_TEXT] : ['v.words', 'v.words']
  const text = isOfNames ? `split_part(${name}, chr(10), 1)` : whole
  const isMadeLate = filter.sort === 'updated' && filter.words === undefined
  const rows = `select ${isRead && isMadeLate ? `lower(${text})` : text} as words, v.account, v.id, v.folder_id, v.valid_from,
    ${began} as began from ${from}`
  if (!isRead || isMadeLate) return rows
  return `select ${QUICK_LOWER} as words, t.account, t.id, t.folder_id, t.valid_from, t.began from (${rows} offset 0) t offset 0`
}

const LETTERS = `'ABCDEFGHIJKLMNOPQRSTUVWXYZ'`

/** The same as `lower(t.words)`, but faster for ASCII, unless the locale of the database has its own rule for that, as Turkish has. */
const QUICK_LOWER = `case
  when octet_length(t.words) = char_length(t.words) and lower(${LETTERS}) = lower(${LETTERS} collate "C")
  then lower(t.words collate "C") else lower(t.words) end`

const MAX_NAME = 1_000

/** Versions `v`. `isRead`: each is read from the table, and its words are made of it; the others have them. */
type Source = {
  readonly began?: string
  readonly from: string
  readonly isRead?: true
}

/**
 * The versions that held at a moment: the current ones, and those that ended later. `valid_to < 'infinity'`, and a moment that
 * is unknown while the query is planned, make Postgres take the index by end, where the start is found too.
 */
function versionsAt({ asOf }: InventoryFilter, at: string): Source[] {
  const current = 'ferry.alert_rule_versions v where v.valid_to is null'
  if (asOf === undefined) return [{ from: current }]
  return [
    { from: `${current} and v.valid_from <= ${at}` },
    {
      from: `ferry.alert_rule_versions v
        where v.valid_to > (select ${at}) and v.valid_to < 'infinity' and v.valid_from <= (select ${at})`,
      isRead: true,
    },
  ]
}

/** Those of the rules that fired at a moment. */
function firingAt(filter: InventoryFilter, at: string): Source {
  return {
    began: 'f.began',
    from: `(${firings(filter, at)}) f cross join lateral (
      select v.* from ferry.alert_rule_versions v
      where v.id = f.id and v.account = f.account and v.valid_from <= ${at} and coalesce(v.valid_to, 'infinity') >= ${at}
      order by v.valid_from desc limit 1) v
      where true`,
    isRead: true,
  }
}

/** Few fire at a moment: they are found once, not for each rule. */
function isNotFiring(filter: InventoryFilter, at: string): string {
  return `not exists (select from (${firings(filter, at)}) f where f.id = k.id and f.account = k.account)`
}

/** The firings at a moment. */
function firings({ asOf }: InventoryFilter, at: string): string {
  const open = `select id, account, began from ferry.alert_rule_firings where ended is null and began <= ${at}`
  const ended = `select id, account, began from ferry.alert_rule_firings where ended > ${at} and ended < 'infinity' and began <= ${at}`
  return asOf === undefined ? open : `${open} union all ${ended}`
}

/** The firing of a rule at a moment. */
function firingOf(rule: string, at: string): string {
  return `select f.began from ferry.alert_rule_firings f
    where f.id = ${rule}.id and f.account = ${rule}.account and f.began <= ${at} and (f.ended is null or f.ended > ${at})
    order by f.began desc limit 1`
}

/** What can be told of a version `v` before its place is known. Of one whose table is not read: whether it may match. */
function narrowing({ isRead }: Source, filter: InventoryFilter, param: AddParam): string[] {
  const { account, folder, team, enabled, label = {}, name } = filter
  const where: string[] = isRead ? ofTable(filter, param) : []
  if (account !== undefined) where.push(`v.account = ${param(account, 'text')}`)
  if (folder !== undefined) where.push(`v.folder_id = ${param(folder, 'numeric')}`)
  if (team !== undefined) where.push(`v.team = ${param(team, 'text')}`)
  if (enabled !== undefined) where.push(`v.enabled = ${param(enabled, 'boolean')}`)
  if (isRead) return where
  const mayHave = (text: string, max: number) =>
    where.push(`(strpos(v.words, (select lower(${text}))) > 0 or char_length(v.words) > ${max})`)
  for (const pair of Object.entries(label)) {
    const json = param(JSON.stringify(Object.fromEntries([pair])), 'jsonb')
    mayHave(`btrim(${json}::text, '{}')`, MAX_LABELS_IN_WORDS)
  }
  if (name !== undefined) mayHave(param(name, 'text'), MAX_NAME_IN_WORDS)
  return where
}

/** What the words of a rule, which are cut, do not tell for certain. */
function exactly(filter: InventoryFilter, param: AddParam): string[] {
  const conditions = ofTable(filter, param)
  if (conditions.length === 0) return []
  return [
    `exists (select from ferry.alert_rule_versions v where v.id = k.id and v.account = k.account
      and v.valid_from = k.valid_from and ${conditions.join(' and ')} offset 0)`,
  ]
}

function ofTable({ label, name }: InventoryFilter, param: AddParam): string[] {
  const where: string[] = []
  if (label !== undefined) where.push(`v.labels @> ${param(JSON.stringify(label), 'jsonb')}`)
  if (name !== undefined) where.push(`strpos(lower(v.name), lower(${param(name, 'text')})) > 0`)
  return where
}
