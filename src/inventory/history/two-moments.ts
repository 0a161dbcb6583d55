import type { Resource } from '#src/model/resource.ts'

/*
 * SQL that compares two moments. `ferry_internal` says which rows differ, and in which fields: the same as in the views and
 * the reports.
 */

/** The functions of each resource, and the columns of a row's key, name, folder or team, and last updater. None comes from input. */
const OF = {
  'alert-rules': {
    between: 'ferry_internal.alert_rules_between',
    compare: 'ferry_internal.compare_alert_rule',
    differences: 'ferry_internal.alert_rule_differences',
    id: 'id',
    name: 'name',
    folder: 'folder_id',
    by: `case when (d.new).appeared is null then (d.new).updater_name end`,
  },
  'mcp-servers': {
    between: 'ferry_internal.mcp_servers_between',
    compare: 'ferry_internal.compare_mcp_server',
    differences: 'ferry_internal.mcp_server_differences',
    id: 'server_id',
    name: 'server_name',
    folder: 'team_id',
    by: 'null::text',
  },
} as const

/** Nobody added what a first reading found between the moments. */
export const DIFFERENCE_KINDS = ['added', 'changed', 'removed', 'first reading'] as const
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

/** The rows that differ from `a` to `b`, parameters of type timestamptz: every one, however long the history is. */
export function differing(resource: Resource, a: string, b: string): string {
  return selected(resource, `${OF[resource].between}(${a}, ${b}) d`)
}

/** Those of the rows that `keys` names, by id and account, that differ from `a` to `b`. */
export function differingOf(resource: Resource, keys: string, a: string, b: string): string {
  const { compare, id } = OF[resource]
  return selected(
    resource,
    `(select c.account, c.${id}, d.* from (${keys}) c cross join lateral ${compare}(c.account, c.${id}, ${a}, ${b}) d) d`,
  )
}

/** How each differs, and its versions `old` and `new`. `by` is null where nobody is known to have added the version at `b`. */
function selected(resource: Resource, from: string): string {
  const { id, name, folder, by } = OF[resource]
  return `
    select '${resource}' as resource, d.account, d.${id} as key,
      case when d.first_reading then 'first reading' else d.change end as change, d.${id}::text as id,
      coalesce((d.new).${name}, (d.old).${name}) as name, coalesce((d.new).${folder}, (d.old).${folder})::text as folder,
      ${by} as by, d.old, d.new
    from ${from}`
}

/** The fields `before` and `after` that differ in a row `f` of `differing` or `differingOf`, if it changed. */
export function fieldsOf(resource: Resource): string {
  return `${OF[resource].differences}(f.old, f.new)`
}
