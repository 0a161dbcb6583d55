import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BinaryRows, rowStart } from '#src/db/binary-rows.ts'
import { copyRows, OpenCopy } from '#src/db/copy.ts'
import { inTransaction } from '#src/db/pool.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/** What Postgres has of these. */
async function throughCopy(store: TestStore, values: readonly (string | null)[]) {
  return inTransaction(store.pool, async client => {
    await client.query('create temp table copied (n int8, value text, list text[]) on commit drop')
    const rows = new BinaryRows(64)
    for (const [n, value] of values.entries()) {
      rows.begin(rowStart(3))
      rows.integer(n)
      rows.text(value)
      rows.texts(value === null ? [] : [value, `${value},${value}`])
    }
    expect(await copyRows(client, 'copied (n, value, list)', rows.take())).toBe(values.length)
    return (await client.query('select value, list from copied order by n')).rows
  })
}

/** A row of one number. */
function numbered(n: number): Buffer {
  const rows = new BinaryRows(64)
  rows.begin(rowStart(1))
  rows.integer(n)
  return rows.take()
}

/** What Postgres cannot read as a row of one number. */
const WRONG = Buffer.from([0, 1, 0, 0, 0, 1, 7])

/** What COPY as text, JSON or an array would read specially, and characters of two to four bytes, alone and among others. */
const SPECIAL = [
  'é',
  '日',
  '😀',
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

test('a COPY stays open from one write to the next, and makes way once it has ended', async () => {
  await using store = await openTestStore()
  const stored = await inTransaction(store.pool, async client => {
    await client.query('create temp table copied (n int8) on commit drop')
    const copy = new OpenCopy(client, 'copied')
    const rows = new BinaryRows(64)
    for (let n = 0; n < 20; n++) {
      rows.begin(rowStart(1))
      rows.integer(n)
      await copy.write([rows.take()]) // its buffers are used again
    }
    await copy.write([])
    const sum = client.query('select sum(n)::int as n from copied')
    await copy.end()
    return (await sum).rows[0].n
  })
  expect(stored).toBe(190)
})

test.each([1, 1_000])(
  'what Postgres refuses is thrown by a later write or by the end, of %s writes',
  async writes => {
    await using store = await openTestStore()
    await inTransaction(store.pool, async client => {
      await client.query('create temp table copied (n int8) on commit drop; savepoint before')
      const copy = new OpenCopy(client, 'copied')
      let written = 0
      const work = async () => {
        for (; written < writes; written++) {
          await copy.write([WRONG])
          if (written > 0) await setTimeout(1)
        }
        await copy.end()
      }
      await expect(work()).rejects.toMatchObject({ code: '08P01' })
      expect(written).toBeLessThan(1_000)
      await client.query('rollback to savepoint before')
    })
  },
)

test('rows that cannot be made, or are not wanted any more, leave a connection that serves on', async () => {
  await using store = await openTestStore()
  function* broken() {
    yield numbered(1)
    throw new Error('no more rows')
  }
  await inTransaction(store.pool, async client => {
    await client.query('create temp table copied (n int8) on commit drop; savepoint before')
    const copy = new OpenCopy(client, 'copied')
    await copy.write([numbered(0)])
    await expect(copy.write(broken())).rejects.toThrow('no more rows')
    await client.query('rollback to savepoint before')
    const other = new OpenCopy(client, 'copied')
    await other.write([numbered(0)])
    await other.abort()
    await other.abort()
    await client.query('rollback to savepoint before')
    expect((await client.query('select from copied')).rowCount).toBe(0)
  })
})

test('that Postgres refuses a COPY is thrown by what comes next, and by nothing before', async () => {
  await using store = await openTestStore()
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  try {
    for (const next of ['write', 'end', 'abort'] as const) {
      const done = inTransaction(store.pool, async client => {
        const copy = new OpenCopy(client, 'ferry.no_such_table (n)')
        await setTimeout(100)
        if (next === 'write') await copy.write([numbered(1)])
        else await copy[next]()
      })
      if (next === 'abort') await done
      else await expect(done, next).rejects.toThrow('ferry.no_such_table')
    }
    await setTimeout(10)
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})
