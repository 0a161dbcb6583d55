import { z } from 'zod'
import { RESOURCES } from '#src/model/resource.ts'
import { CHANGE_KINDS } from './change-kinds.ts'

/** Which events of the history are wanted; what is left out does not narrow them. */
export type ChangeFilter = {
  readonly since?: Date | undefined
  /** A text is an instant as Postgres writes it. */
  readonly until?: Date | string | undefined
  readonly account?: string | undefined
  /** A part of the name of the person who updated a rule last, whatever its case. Removals and MCP servers have no name. */
  readonly by?: string | undefined
  readonly rule?: bigint | undefined
  readonly server?: string | undefined
}

/**
 * One event in the life of a rule or server. What a first reading found is one event, unless one rule or server is asked for:
 * then `id` is empty, and `rows` says how many it found.
 */
export const ChangeRow = z.object({
  resource: z.enum(RESOURCES),
  account: z.string(),
  id: z.string(),
  name: z.string().nullable(),
  change: z.enum(CHANGE_KINDS),
  at: z.date(),
  run: z.string(),
  by: z.string().nullable(),
  /** The fields that a change or a return altered, as JSON text: ids in it may exceed 2^53. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  rows: z.number().nullable(),
})
export type ChangeRow = Readonly<z.infer<typeof ChangeRow>>

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
 * SQL for fields as JSON text, in which longer values are cut. A value that was cut ends with its length and a hash, so that values
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
