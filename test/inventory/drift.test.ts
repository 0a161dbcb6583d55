import { pino } from 'pino'
import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { Opened } from '#src/inventory/publish/opened.ts'
import { reportDrift } from '#src/inventory/read/drift.ts'
import { DECLARATIONS } from '#src/model/declarations.ts'
import { openTestStore } from '#test/support/store.ts'

test('of the fields outside the contract only those are warned of and told that no run has seen before', async () => {
  await using store = await openTestStore()
  const warned: unknown[] = []
  const log = Object.assign(pino({ level: 'silent' }), {
    warn: ({ field, type }: Record<string, unknown>) => warned.push([field, type]),
  })
  const report = (runId: bigint, account: string, ...fields: [string, string][]) =>
    inTransaction(store.pool, client =>
      reportDrift(
        log,
        client,
        { runId, account, resource: 'alert-rules', at: '2026-11-01' },
        { drift: fields.map(([field, type]) => ({ field, type })), values: [] },
      ),
    )
  await report(1n, 'a', ['owner', 'string'])
  await report(2n, 'a', ['owner', 'string'], ['owner', 'number'], ['tier', 'string'])
  await report(3n, 'a', ['owner', 'string'], ['tier', 'string'])
  await report(4n, 'b', ['owner', 'string'])
  expect(warned).toEqual([
    ['owner', 'string'],
    ['owner', 'number'],
    ['tier', 'string'],
    ['owner', 'string'],
  ])
  const { rows } = await store.pool.query('select account, data from ferry.events order by id')
  expect(rows.map(({ account, data }) => [account, data.run, data.fields])).toEqual([
    ['a', '1', 1],
    ['a', '2', 2],
    ['b', '4', 1],
  ])
})

test('what the platform sends for the first time is logged with its run and told as numbers, values of a first reading are not', async () => {
  await using store = await openTestStore()
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'warn', base: null, timestamp: false },
    { write: line => lines.push(JSON.parse(line)) },
  )
  const run = { account: 'a', resource: 'mcp-servers', at: '2026-11-01' } as const
  const report = (
    runId: number,
    values: readonly [string, boolean][],
    drift: readonly [string, string][] = [],
  ) =>
    inTransaction(store.pool, client =>
      reportDrift(
        log,
        client,
        { ...run, runId: BigInt(runId) },
        {
          drift: drift.map(([field, type]) => ({ field, type })),
          values: values.map(([value, isNews]) => ({ field: 'transport', value, isNews })),
        },
      ),
    )
  await report(1, [['stdio', false]])
  await report(
    2,
    [
      ['stdio', true],
      ['pigeon', true],
    ],
    [['owner', 'string']],
  )
  await report(3, [['pigeon', true]], [['owner', 'string']])
  const about = { level: 40, account: 'a', resource: 'mcp-servers', runId: '2', at: '2026-11-01' }
  expect(lines.map(line => ({ ...line, runId: `${line.runId}` }))).toEqual([
    {
      ...about,
      field: 'owner',
      type: 'string',
      msg: 'The platform sends a field outside the contract; Ferry does not store it.',
    },
    {
      ...about,
      field: 'transport',
      value: 'pigeon',
      msg: 'The platform sends a value that this field has never had.',
    },
  ])
  const { rows: events } = await store.pool.query(
    'select kind, state, account, subject, data from ferry.events',
  )
  expect(events).toEqual([
    {
      kind: 'drift.found',
      state: 'raised',
      account: 'a',
      subject: 'mcp-servers',
      data: { inventory: 'mcp-servers', run: '2', fields: 1, values: 1 },
    },
  ])
  const { rows: values } = await store.pool.query(
    'select account, resource, field, value, first_run, is_news from ferry.seen_values order by value',
  )
  const seen = { account: 'a', resource: 'mcp-servers', field: 'transport' }
  expect(values).toEqual([
    { ...seen, value: 'pigeon', first_run: '2', is_news: true },
    { ...seen, value: 'stdio', first_run: '1', is_news: false },
  ])
})

test('so many values are noted of each field, account and inventory, and of a long one its beginning', async () => {
  await using store = await openTestStore()
  const note = (
    account: string,
    resource: 'alert-rules' | 'mcp-servers',
    field: string,
    values: readonly string[],
  ) =>
    inTransaction(store.pool, client =>
      reportDrift(
        pino({ level: 'silent' }),
        client,
        { account, resource, runId: 1n, at: '2026-11-01' },
        { drift: [], values: values.map(value => ({ field, value, isNews: true })) },
      ),
    )
  const many = Array.from({ length: 101 }, (_, n) => `v${`${n}`.padStart(3, '0')}`)
  await note('a', 'mcp-servers', 'transport', many.slice(0, 60))
  await note('a', 'mcp-servers', 'transport', many.slice(50))
  await note('a', 'mcp-servers', 'transport', ['one more'])
  await note('a', 'mcp-servers', 'status', ['x'.repeat(201), 'x'.repeat(202)])
  await note('a', 'alert-rules', 'transport', ['v'])
  await note('b', 'mcp-servers', 'transport', ['v'])
  const { rows } = await store.pool.query(
    `select account, resource, field, count(*)::int as noted, max(value) as last from ferry.seen_values group by 1, 2, 3 order by 1, 2, 3`,
  )
  expect(rows).toEqual([
    { account: 'a', resource: 'alert-rules', field: 'transport', noted: 1, last: 'v' },
    { account: 'a', resource: 'mcp-servers', field: 'status', noted: 1, last: 'x'.repeat(200) },
    { account: 'a', resource: 'mcp-servers', field: 'transport', noted: 100, last: 'v099' },
    { account: 'b', resource: 'mcp-servers', field: 'transport', noted: 1, last: 'v' },
  ])
})

test('a value that a first reading has is news all the same if another row got it', () => {
  const opened = new Opened(DECLARATIONS['mcp-servers'].fields)
  opened.add({ transport: 'carrier pigeon' }, 'first reading')
  expect(opened.values()).toEqual([{ field: 'transport', value: 'carrier pigeon', isNews: false }])
  opened.add({ transport: 'carrier pigeon' }, null)
  opened.add({ transport: 'carrier pigeon' }, 'first reading')
  expect(opened.values()).toEqual([{ field: 'transport', value: 'carrier pigeon', isNews: true }])
})
