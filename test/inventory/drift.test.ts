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

test('a value that a first reading has is news all the same if another row got it', () => {
  const opened = new Opened(DECLARATIONS['mcp-servers'].fields)
  opened.add({ transport: 'carrier pigeon' }, 'first reading')
  expect(opened.values()).toEqual([{ field: 'transport', value: 'carrier pigeon', isNews: false }])
  opened.add({ transport: 'carrier pigeon' }, null)
  opened.add({ transport: 'carrier pigeon' }, 'first reading')
  expect(opened.values()).toEqual([{ field: 'transport', value: 'carrier pigeon', isNews: true }])
})
