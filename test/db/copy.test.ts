import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copyField, copyLines, textArray } from '#src/db/copy.ts'
import { inTransaction } from '#src/db/pool.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/** What Postgres has of these, written as COPY's text. */
async function throughCopy(store: TestStore, values: readonly (string | null)[]) {
  return inTransaction(store.pool, async client => {
    await client.query('create temp table copied (n int, value text, list text[]) on commit drop')
    const lines = values.map((value, n) => {
      const list = value === null ? undefined : [value, `${value},${value}`]
      return `${n}\t${copyField(value)}\t${copyField(textArray(list))}\n`
    })
    await copyLines(client, 'copied (n, value, list)', lines)
    const { rows } = await client.query('select value, list from copied order by n')
    return rows
  })
}

/** Each of what COPY reads specially, alone and among others. */
const SPECIAL = [
  '\\',
  '\t',
  '\n',
  '\r',
  '\\N',
  '\\.',
  '\\t',
  '\r\n',
  'a\\b',
  'a\tb',
  '"',
  '{}',
  '{a,b}',
  "'",
  '',
  'NULL',
  'null',
]

test('COPY keeps every character of a text, and null is not an empty text', async () => {
  await using store = await openTestStore()
  const values = [...SPECIAL, null, ...SPECIAL.map(text => `x${text}x${text}`)]
  expect(await throughCopy(store, values)).toEqual(
    values.map(value => ({ value, list: value === null ? null : [value, `${value},${value}`] })),
  )
})

test('COPY keeps any text unchanged', async () => {
  await using store = await openTestStore()
  const text = fc.string({
    unit: fc.constantFrom('\\', '\t', '\n', '\r', 'N', '.', '"', ',', '{', '}', 'a', 'é', '😀'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 50 }), async values => {
      const rows = await throughCopy(store, values)
      expect(rows.map(row => row.value)).toEqual(values)
      expect(rows.map(row => row.list[0])).toEqual(values)
    }),
    { numRuns: 30 },
  )
})
