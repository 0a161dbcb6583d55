import { expect, test } from 'vitest'
import { VERSIONS } from '#src/inventory/versioned-tables.ts'
import { openTestStore } from '#test/support/store.ts'

/** A column whatever its type, with 0 or 1. */
const version = (fields: Readonly<Record<string, 0 | 1 | null>>) =>
  JSON.stringify({ ...fields, fingerprint: '00000000-0000-0000-0000-000000000001' })

test.each([
  ['alert-rules', 'alert_rule_differences'],
  ['mcp-servers', 'mcp_server_differences'],
] as const)(
  'of two versions of %s, every field of the contract that differs is named, and no other column',
  async (resource, differences) => {
    await using store = await openTestStore()
    const { name: table, columns: fields } = VERSIONS[resource]
    const same = Object.fromEntries(fields.map(name => [name, 0 as const]))
    const namedBetween = async (old: string | null, now: string | null) => {
      const { rows } = await store.pool.query<{ before: string[]; after: string[] }>(
        `select array(select jsonb_object_keys(d.before)) as before, array(select jsonb_object_keys(d.after)) as after
       from ferry_internal.${differences}(jsonb_populate_record(null::${table}, $1), jsonb_populate_record(null::${table}, $2)) d`,
        [old, now],
      )
      expect(rows[0]?.before).toEqual(rows[0]?.after)
      return rows[0]?.after.toSorted()
    }
    for (const value of [1, null] as const) {
      for (const field of fields) {
        expect(await namedBetween(version(same), version({ ...same, [field]: value }))).toEqual([field])
        expect(await namedBetween(version({ ...same, [field]: value }), version(same))).toEqual([field])
      }
    }
    const own = (n: 1 | 2) =>
      JSON.stringify({
        ...same,
        ...{
          altered: [`${n}`],
          flags: [`${n}`],
          appeared: `${n}`,
          fingerprint: `00000000-0000-0000-0000-00000000000${n}`,
        },
        ...{ opened_by_run: n, closed_by_run: n, valid_from: `2026-01-0${n}`, valid_to: `2026-01-0${n}` },
      })
    expect(await namedBetween(own(1), own(2))).toEqual([])
    const all = Object.fromEntries(fields.map(name => [name, 1 as const]))
    expect(await namedBetween(version(same), version(all))).toEqual(fields.toSorted())
  },
)
