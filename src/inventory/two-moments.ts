import type { Resource } from '#src/model/resource.ts'
import { VERSIONS } from './versioned-tables.ts'

/*
 * SQL that compares two moments: which rows differ, and in which fields. `a` and `b` are parameters of type timestamptz.
 */

/** The columns of a row's folder or team, and of who updated it last. None of it comes from input. */
const COLUMNS = {
  'alert-rules': { folder: 'folder_id', by: 'updater_name' },
  'mcp-servers': { folder: 'team_id', by: null },
} as const

/**
 * The ids and accounts of the rows with a version that began or ended between the moments: every row that differs, however
 * many rows there are and however long their history is. `given` narrows the versions `v`.
 */
export function idsBetween(resource: Resource, a: string, b: string, given: string): string {
  const { name: table, idColumn: id } = VERSIONS[resource]
  const between = (at: string) =>
    `select v.${id}, v.account from ${table} v
     where ${given} and v.${at} > least(${a}, ${b}) and v.${at} <= greatest(${a}, ${b})`
  return `${between('valid_from')} union ${between('valid_to')}`
}

/** Nobody added what a first reading found between the moments. */
export const DIFFERENCE_KINDS = ['added', 'changed', 'removed', 'first reading'] as const
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

/**
 * Of the rows that `ids` names, those that differ from `a` to `b`: how, and which versions of them are to be compared. `by` is null
 * where nobody is known to have added the version at `b`.
 */
export function differingOf(resource: Resource, ids: string, a: string, b: string): string {
  const { name: table, idColumn: id, nameColumn: name } = VERSIONS[resource]
  const { folder, by } = COLUMNS[resource]
  return `
    select '${resource}' as resource, c.account, c.${id} as key,
      case when f.appeared = 'first reading' then f.appeared when a.${id} is null then 'added'
        when b.${id} is null then 'removed' else 'changed' end as change,
      c.${id}::text as id, coalesce(b.${name}, a.${name}) as name, coalesce(b.${folder}, a.${folder})::text as folder,
      ${by === null ? 'null::text' : `case when b.appeared is null then b.${by} end`} as by, a.valid_from as a_from, b.valid_from as b_from
    from (${ids}) c
    left join lateral (${versionAt(resource, a)}) a on true
    left join lateral (${versionAt(resource, b)}) b on true
    left join lateral (
      select v.appeared from ${table} v
      where v.${id} = c.${id} and v.account = c.account and v.valid_from > ${a} and a.${id} is null and ${a} < ${b}
      order by v.valid_from limit 1
    ) f on true
    where a.fingerprint is distinct from b.fingerprint`
}

/** The version that was valid at a moment: the last one that began by then, if it had not ended. */
function versionAt(resource: Resource, at: string): string {
  const { name: table, idColumn: id } = VERSIONS[resource]
  return `select * from (
      select * from ${table} v where v.${id} = c.${id} and v.account = c.account and v.valid_from <= ${at}
      order by v.valid_from desc limit 1
    ) v where v.valid_to is null or v.valid_to > ${at}`
}

/** The fields of the contract that differ between two versions of a row `f` of `differingOf`. */
export function fieldsOf(resource: Resource): string {
  const { name: table, idColumn: id, idType: type } = VERSIONS[resource]
  const side = (from: string) =>
    `(select * from ${table} v where v.${id} = f.id::${type} and v.account = f.account and v.valid_from = f.${from})`
  return `
    select array_agg(n.key order by n.key) as fields, jsonb_object_agg(n.key, o.value) as before,
      jsonb_object_agg(n.key, n.value) as after
    from ${side('a_from')} a cross join ${side('b_from')} b
      cross join jsonb_each(to_jsonb(b)) n join jsonb_each(to_jsonb(a)) o on o.key = n.key
    where f.resource = '${resource}' and n.value is distinct from o.value and n.key <> all
      ('{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered,appeared,team}'::text[])
    having count(*) > 0`
}
