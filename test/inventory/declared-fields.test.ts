import type { Pool } from 'pg'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { alertRuleVersions, mcpServerVersions } from '#src/inventory/schema.ts'
import { VERSIONS } from '#src/inventory/versioned-tables.ts'
import type { AlertRule } from '#src/model/alert-rule.ts'
import { DECLARATIONS } from '#src/model/declarations.ts'
import type { FieldKind, Integer } from '#src/model/fields.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { openTestStore } from '#test/support/store.ts'

/* What must name fields although it cannot read their declaration: SQL, and the types of rows. */

const VIEWS = {
  'alert-rules': { now: 'alert_rules', asOf: 'alert_rules_as_of', changes: 'alert_rule_changes' },
  'mcp-servers': { now: 'mcp_servers', asOf: 'mcp_servers_as_of', changes: 'mcp_server_changes' },
} as const

/** Two values of each kind, as Postgres reads them. */
const VALUES: Readonly<Record<FieldKind, readonly [string, string]>> = {
  uint64: ['1', '2'],
  id64: ['1', '2'],
  int64: ['1', '2'],
  text: ['one', 'two'],
  'text id': ['one', 'two'],
  flag: ['true', 'false'],
  labels: ['{"a": "1"}', '{"a": "2"}'],
  tools: ['[]', '[{"name": "tool"}]'],
}

/** A row for each field, changed at two o'clock in that field alone. Its id is the number of the field. */
async function insertOneChangePerField(pool: Pool, resource: Resource): Promise<void> {
  const { name: table, idColumn, columns, kindOf } = VERSIONS[resource]
  for (const [n, changed] of columns.entries()) {
    for (const [from, to, version] of [[1, 2, 0] as const, [2, null, 1] as const]) {
      const values = columns.map(column => VALUES[kindOf(column)][column === changed ? version : 0])
      const times = [hour(from), to === null ? null : hour(to), from, to, `${n}`]
      await pool.query(
        `insert into ${table} (account, valid_from, valid_to, opened_by_run, closed_by_run, ${idColumn}, fingerprint, ${columns.join()})
         values ('a', $1, $2, $3, $4, $5, gen_random_uuid(), ${values.map((_, at) => `$${at + 6}`).join()})`,
        [...times, ...values],
      )
    }
  }
}

const hour = (n: number, minute = 0) => new Date(Date.UTC(2026, 0, 1, n, minute))

describe.each(RESOURCES)('the SQL of %s', resource => {
  const { now, asOf, changes } = VIEWS[resource]
  const { name: table, idColumn, columns } = VERSIONS[resource]
  const { fields } = DECLARATIONS[resource]

  test('shows each declared field with its type and its comment, now and as of an instant', async () => {
    await using store = await openTestStore()
    const shapeOf = async (from: string) =>
      (await store.pool.query(`select * from ${from} limit 0`)).fields.map(field => [
        field.name,
        field.dataTypeID,
      ])
    const typeOf = new Map((await shapeOf(table)) as [string, number][])
    const withTypes = (names: readonly string[]) => names.map(name => [name, typeOf.get(name) ?? BOOLEAN])
    const names = Object.keys(fields)
    const about = ['fingerprint', 'flags', 'altered']
    expect(await shapeOf(`ferry.${now}`)).toEqual(
      withTypes(['account', ...names, 'valid_from', 'opened_by_run', ...about]),
    )
    const ends = ['valid_from', 'valid_to', 'opened_by_run', 'closed_by_run']
    expect(await shapeOf(`ferry.${asOf}(now())`)).toEqual(withTypes(['account', ...names, ...ends, ...about]))
    const { rows: comments } = await store.pool.query(
      `select attname as name, col_description(attrelid, attnum) as means from pg_attribute
       where attrelid = $1::regclass and attname = any ($2) order by attnum`,
      [`ferry.${now}`, names],
    )
    expect(comments).toEqual(names.map(name => ({ name, means: fields[name]?.means })))
  })

  test('finds a change of each field, and of no other', async () => {
    await using store = await openTestStore()
    await insertOneChangePerField(store.pool, resource)
    const one = columns.map((column, n) => ({ id: `${n}`, before: [column], after: [column] }))
    const differing = `array(select jsonb_object_keys(before)) as before, array(select jsonb_object_keys(after)) as after`
    const inView = await store.pool.query(
      `select ${idColumn}::text as id, ${differing} from ferry.${changes} where change = 'changed' order by ${idColumn}::int`,
    )
    expect(inView.rows).toEqual(one)
    const between = await store.pool.query(
      `select id, ${differing} from ferry.changes_between($1, $2) order by id::int`,
      [hour(1, 30), hour(2, 30)],
    )
    expect(between.rows).toEqual(one)
  })

  test('shows the values of each field that changed, before and after', async () => {
    await using store = await openTestStore()
    await insertOneChangePerField(store.pool, resource)
    const valueIn = (version: string) => `jsonb_build_object($1::text, to_jsonb(${version}) -> $1)::text`
    for (const [n, column] of columns.entries()) {
      const { rows } = await store.pool.query(
        `select c.before::text as before, c.after::text as after, ${valueIn('o')} as was, ${valueIn('v')} as became
         from ferry.${changes} c join ${table} o on o.${idColumn} = c.${idColumn} and o.valid_to is not null
         join ${table} v on v.${idColumn} = c.${idColumn} and v.valid_to is null
         where c.change = 'changed' and c.${idColumn}::text = $2`,
        [column, `${n}`],
      )
      expect(rows).toEqual([
        { before: rows[0].was, after: rows[0].became, was: rows[0].was, became: rows[0].became },
      ])
      expect(rows[0].was).not.toBe(rows[0].became)
    }
  })
})

test('of what was edited while a rule fired, who edited it and when is no difference', async () => {
  await using store = await openTestStore()
  await insertOneChangePerField(store.pool, 'alert-rules')
  await store.pool.query(
    `insert into ferry.alert_rule_firings (account, id, began, began_run)
     select 'a', id, $1, 1 from ferry.alert_rules`,
    [hour(1, 30)],
  )
  const { rows } = await store.pool.query('select id::int, fields from ferry.silenced($1) order by id', [
    hour(1),
  ])
  const { fields } = DECLARATIONS['alert-rules']
  expect(rows).toEqual(
    VERSIONS['alert-rules'].columns.map((column, id) => ({
      id,
      fields: fields[column]?.isAboutEdit ? null : [column],
    })),
  )
})

test('rows have the types of their fields, in the model and in the tables', () => {
  type Rule = typeof alertRuleVersions.$inferSelect
  expectTypeOf<
    Pick<Rule, 'id' | 'name' | 'labels' | 'enabled' | 'timezone' | 'delay_seconds'>
  >().toEqualTypeOf<{
    id: bigint
    name: string
    labels: unknown
    enabled: boolean
    timezone: string | null
    delay_seconds: bigint
  }>()
  expectTypeOf<Rule>().not.toHaveProperty('triggered')
  type Server = typeof mcpServerVersions.$inferSelect
  expectTypeOf<Pick<Server, 'server_id' | 'team_id' | 'can_edit'>>().toEqualTypeOf<{
    server_id: string
    team_id: bigint | null
    can_edit: boolean | null
  }>()
  expectTypeOf<Pick<AlertRule, 'id' | 'labels' | 'triggered'>>().toEqualTypeOf<{
    readonly id: Integer
    readonly labels: Readonly<Record<string, string>> | null
    readonly triggered: boolean
  }>()
})

/** The number of the type in Postgres. What is state is in no table of versions. */
const BOOLEAN = 16
