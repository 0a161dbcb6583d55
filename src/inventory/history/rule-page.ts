import type { Pool } from 'pg'
import { type Part, partOf } from '#src/db/list.ts'
import { keyInstant, namedRowsOf } from '#src/db/rows.ts'
import { MAX_LABELS_IN_WORDS, MAX_NAME_IN_WORDS, RULE_WORDS } from '#src/inventory/schema.ts'
import { type InventoryFilter, type InventoryPlace, PagedRow } from './list-inventory.ts'
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
/** Not as the index of folders has it: that has all versions, and few of them held at the moment. */
const FOLDER: Key = ['(k.folder_id + 0)', 'numeric', 3]

const BY: Readonly<Record<RuleSort, Sort>> = {
  name: { keys: [WORDS, ACCOUNT, ID] },
  folder: { keys: [FOLDER, WORDS, ACCOUNT, ID] },
  updated: { keys: [['k.valid_from', 'timestamptz', 4], ACCOUNT, ID], isDown: true },
  'firing since': { keys: [['k.began', 'timestamptz', 4], ACCOUNT, ID] },
}

export type RuleFilter = InventoryFilter & { readonly sort?: RuleSort | undefined }

/** Returns at most `limit` rules after a place. Ordered by since when they fire, only those that do. */
export async function loadRulePage(
  pool: Pool,
  filter: RuleFilter,
  after: InventoryPlace | null,
  limit: number,
): Promise<Part<PagedRow, InventoryPlace>> {
  const params: unknown[] = []
  const param = paramsInto(params)
  const at = param(filter.asOf ?? 'infinity', 'timestamptz')
  const most = param(limit + 1, 'int')
  const sort = BY[filter.sort ?? 'name']
  const isByFiring = filter.sort === 'firing since'
  const sources = isByFiring || filter.firing ? [firingAt(filter, at)] : versionsAt(filter, at)
  const parts = sources.map(
    ({ words, began = 'null::timestamptz', from }) => `
      (select k.* from (
        select ${words} as words, v.account, v.id, v.folder_id, v.valid_from, ${began} as began
        from ${[from, ...narrowing(words, filter, param)].join(' and ')}
      ) k
      where ${[isAfter(sort, after, param), ...exactly(filter, at, param)].join(' and ')}
      order by ${orderOf(sort)} limit ${most})`,
  )
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

const MAX_NAME = 1_000

/** Versions `v`, and the SQL of their words. */
type Source = { readonly words: string; readonly began?: string; readonly from: string }

/** The versions that held at a moment: the current ones, and those that ended later. */
function versionsAt({ asOf }: InventoryFilter, at: string): Source[] {
  const began = `v.valid_from <= ${at}`
  const current = { words: 'v.words', from: 'ferry.alert_rule_versions v where v.valid_to is null' }
  if (asOf === undefined) return [current]
  return [
    { ...current, from: `${current.from} and ${began}` },
    { words: RULE_WORDS, from: `ferry.alert_rule_versions v where v.valid_to > ${at} and ${began}` },
  ]
}

/** Those of the rules that fired at a moment. */
function firingAt({ asOf }: InventoryFilter, at: string): Source {
  const open = `select id, account, began from ferry.alert_rule_firings where ended is null and began <= ${at}`
  const ended = `select id, account, began from ferry.alert_rule_firings where ended > ${at} and began <= ${at}`
  return {
    words: RULE_WORDS,
    began: 'f.began',
    from: `(${asOf === undefined ? open : `${open} union all ${ended}`}) f cross join lateral (
      select v.* from ferry.alert_rule_versions v
      where v.id = f.id and v.account = f.account and v.valid_from <= ${at} and coalesce(v.valid_to, 'infinity') >= ${at}
      order by v.valid_from desc limit 1) v
      where true`,
  }
}

/** The firing of a rule at a moment. */
function firingOf(rule: string, at: string): string {
  return `select f.began from ferry.alert_rule_firings f
    where f.id = ${rule}.id and f.account = ${rule}.account and f.began <= ${at} and coalesce(f.ended, 'infinity') >= ${at}
    order by f.began desc limit 1`
}

/** What can be told of a version without the table: which ones may match. */
function narrowing(words: string, filter: InventoryFilter, param: AddParam): string[] {
  const { account, folder, team, enabled, label = {}, name } = filter
  const where = hasEachWord(words, filter.words, param)
  if (account !== undefined) where.push(`v.account = ${param(account, 'text')}`)
  if (folder !== undefined) where.push(`v.folder_id = ${param(folder, 'numeric')}`)
  if (team !== undefined) where.push(`v.team = ${param(team, 'text')}`)
  if (enabled !== undefined) where.push(`v.enabled = ${param(enabled, 'boolean')}`)
  const mayHave = (text: string, max: number) =>
    where.push(`(strpos(${words}, (select lower(${text}))) > 0 or char_length(${words}) > ${max})`)
  for (const pair of Object.entries(label)) {
    const json = param(JSON.stringify(Object.fromEntries([pair])), 'jsonb')
    mayHave(`btrim(${json}::text, '{}')`, MAX_LABELS_IN_WORDS)
  }
  if (name !== undefined) mayHave(param(name, 'text'), MAX_NAME_IN_WORDS)
  return where
}

/** What the words of a rule, which are cut, do not tell for certain. */
function exactly({ label, name, firing }: InventoryFilter, at: string, param: AddParam): string[] {
  const where = firing === false ? [`(${firingOf('k', at)}) is null`] : []
  const conditions: string[] = []
  if (label !== undefined) conditions.push(`v.labels @> ${param(JSON.stringify(label), 'jsonb')}`)
  if (name !== undefined) conditions.push(`strpos(lower(v.name), lower(${param(name, 'text')})) > 0`)
  if (conditions.length === 0) return where
  return [
    ...where,
    `exists (select from ferry.alert_rule_versions v where v.id = k.id and v.account = k.account
      and v.valid_from = k.valid_from and ${conditions.join(' and ')} offset 0)`,
  ]
}
