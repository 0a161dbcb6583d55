import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OpenCopy } from '#src/db/copy.ts'
import { inTransaction } from '#src/db/pool.ts'
import { copyTarget, type NewVersion, versionRows } from '#src/inventory/publish/versions.ts'
import {
  ALERT_RULE_VERSIONS,
  MCP_SERVER_VERSIONS,
  type VersionedTable,
} from '#src/inventory/versioned-tables.ts'
import { ALERT_RULE } from '#src/model/alert-rule.ts'
import type { AnyRow, Declaration, FieldKind } from '#src/model/fields.ts'
import { uuidOf } from '#src/model/fingerprint.ts'
import { MCP_SERVER } from '#src/model/mcp-server.ts'
import { rowWriter } from '#src/platform/written-row.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/** As a row has it: a number up to ±(2^53-1), a bigint beyond. */
const integer = (min: bigint, max: bigint) =>
  fc
    .oneof(
      fc.bigInt({ min, max }),
      fc.constantFrom(0n, 7n, 9_999n, 10_000n, 120_000n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n, min, max),
      fc.constantFrom(-1n, -10_000n, -(2n ** 32n), -(2n ** 32n) - 4n).map(n => (n < min ? -n : n)),
    )
    .map(n => (Number.isSafeInteger(Number(n)) ? Number(n) : n))
const text = fc.oneof(
  fc.string({ unit: 'binary' }).map(value => value.replaceAll('\0', '')),
  fc.constantFrom('', 'é😀', '\\N', 'a\tb\nc', '\\.', 'x'.repeat(10_000)),
)
const tool = fc.record({ name: fc.option(text), description: fc.option(text) })

const VALUES = {
  uint64: integer(0n, 2n ** 64n - 1n),
  id64: integer(-(2n ** 63n), 2n ** 64n - 1n),
  int64: integer(-(2n ** 63n), 2n ** 63n - 1n),
  text,
  'text id': text.filter(id => id !== ''),
  flag: fc.boolean(),
  labels: fc.dictionary(text, text, { maxKeys: 5 }),
  tools: fc.array(tool, { maxLength: 3 }),
} satisfies Record<FieldKind, fc.Arbitrary<unknown>>

function rowsOf({ fields, id }: Declaration): fc.Arbitrary<AnyRow[]> {
  const values = Object.entries(fields).map(([name, { kind, isOptional }]) => {
    const value: fc.Arbitrary<unknown> = VALUES[kind]
    return [name, isOptional ? fc.option(value) : value]
  })
  const row = fc.record(Object.fromEntries(values)) as fc.Arbitrary<AnyRow>
  return fc.uniqueArray(row, { minLength: 1, maxLength: 20, selector: one => `${one[id]}` })
}

const RUN = { account: 'é\\t"', runId: 2n ** 40n, at: '2026-11-27 03:12:00.123456+05:30' }
const APPEARED = ['first reading', 'unexplained', null] as const

test.each([
  { declaration: ALERT_RULE, table: ALERT_RULE_VERSIONS as VersionedTable<AnyRow> },
  { declaration: MCP_SERVER, table: MCP_SERVER_VERSIONS as VersionedTable<AnyRow> },
])('Postgres has every value of a version as it was: $table.name', async ({ declaration, table }) => {
  await using store = await openTestStore()
  const write = rowWriter(declaration)
  await fc.assert(
    fc.asyncProperty(rowsOf(declaration), async rows => {
      const versions = rows.map((row, n): NewVersion<AnyRow> => {
        const flags = n % 2 === 0 ? undefined : ['timezone']
        const altered = n % 3 === 0 ? [] : ['name', 'labels.a"b\\c']
        return { id: table.idOf(row), row, flags, altered, written: write(row) }
      })
      const stored = await throughPostgres(store, table, versions)
      expect(stored.map(({ of }) => of).toSorted()).toEqual(rows.map(table.idOf).toSorted())
      for (const { of, ...columns } of stored) {
        const n = rows.findIndex(row => table.idOf(row) === of)
        const { row, flags, altered, written } = versions[n] as NewVersion<AnyRow>
        expect(columns).toEqual({
          about: [RUN.account, `${RUN.runId}`, uuidOf(written.fingerprint), true],
          appeared: APPEARED[n % 3],
          flags: flags ?? null,
          altered: altered.length === 0 ? null : altered,
          ...Object.fromEntries(
            table.definition.map(name => [name, asRead(table.kindOf(name), table.textOf(row, name))]),
          ),
        })
      }
    }),
    { numRuns: 40 },
  )
})

async function throughPostgres(
  store: TestStore,
  table: VersionedTable<AnyRow>,
  versions: readonly NewVersion<AnyRow>[],
): Promise<{ readonly of: string }[]> {
  return inTransaction(store.pool, async client => {
    await client.query(`delete from ${table.name}`)
    const copy = new OpenCopy(client, copyTarget(table))
    const rowOf = new Map(versions.map(({ row }, n) => [row, n]))
    await copy.write(versionRows(table, RUN, versions, row => APPEARED[(rowOf.get(row) ?? 0) % 3] ?? null))
    await copy.end()
    const columns = table.definition.map(name => `${name}::text`).join(', ')
    const { rows } = await client.query(
      `select ${table.idColumn}::text as of, appeared, flags, altered, ${columns},
         jsonb_build_array(account, opened_by_run::text, fingerprint, valid_from = $1::timestamptz) as about
       from ${table.name}`,
      [RUN.at],
    )
    return rows.map(({ of, ...row }) => ({
      of,
      ...Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          table.definition.includes(name) ? asRead(table.kindOf(name), value as string | null) : value,
        ]),
      ),
    }))
  })
}

function asRead(kind: FieldKind, text: string | null): unknown {
  return text !== null && (kind === 'labels' || kind === 'tools') ? JSON.parse(text) : text
}
