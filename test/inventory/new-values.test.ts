import { expect, test } from 'vitest'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'

const NONE = { rules: 0, servers: 0 }

const found = (harness: FerryHarness) =>
  harness.query(`select account, subject, data from ferry.events where kind = 'drift.found' order by id`)
const news = async (harness: FerryHarness) =>
  (
    await harness.query('select field, value from ferry.seen_values where is_news order by first_run, 1, 2')
  ).map(({ field, value }) => `${field} ${value}`)

test('a value that a field of MCP servers never had is told once, and its number alone; those of the first reading are not', async () => {
  await using harness = await openFerryHarness(NONE)
  const { state } = harness.sandbox
  const sync = () => harness.sync({ resource: 'mcp-servers' })
  const usual = { transport: 'streamable-http', status: 'enabled', auth_mode: 'shared' }
  const { server_id: id } = state.addServer(usual)
  await sync()
  expect(await found(harness)).toEqual([])

  state.changeServer(id, { transport: 'carrier-pigeon', auth_mode: 'none' })
  const { run } = await sync()
  state.changeServer(id, usual)
  await sync()
  state.changeServer(id, { transport: 'carrier-pigeon', description: 'again' })
  state.addServer({ ...usual, transport: 'carrier-pigeon' })
  await sync()
  expect(await found(harness)).toEqual([
    {
      account: 'default',
      subject: 'mcp-servers',
      data: { inventory: 'mcp-servers', run: `${run}`, fields: 0, values: 2 },
    },
  ])
  expect(await news(harness)).toEqual(['auth_mode none', 'transport carrier-pigeon'])
})

test('the first server after a reading of none is news; a missing value is none', async () => {
  await using harness = await openFerryHarness(NONE)
  const sync = () => harness.sync({ resource: 'mcp-servers' })
  await sync()
  const now = Date.now()
  harness.sandbox.state.addServer({
    transport: 'sse',
    status: 'enabled',
    auth_mode: null,
    created_at: now,
  } as never)
  await sync()
  expect(await news(harness)).toEqual(['status enabled', 'transport sse'])
})

test('the data source of a rule is such a field, its name is not', async () => {
  await using harness = await openFerryHarness(NONE)
  const { state } = harness.sandbox
  state.addRule({ name: 'one', ds_type: 'prometheus' })
  await harness.sync()
  state.addRule({ name: 'two', ds_type: 'prometheus' })
  await harness.sync()
  expect(await found(harness)).toEqual([])
  state.addRule({ name: 'three', ds_type: 'x'.repeat(300) })
  const { run } = await harness.sync()
  expect(await found(harness)).toMatchObject([{ data: { run: `${run}`, fields: 0, values: 1 } }])
  expect(await news(harness)).toEqual([`ds_type ${'x'.repeat(200)}`])
})

test('invented values fill no table: the first hundred of a field are noted', async () => {
  await using harness = await openFerryHarness(NONE)
  await harness.sync()
  for (let n = 0; n < 130; n++) harness.sandbox.state.addRule({ name: `${n}`, ds_type: `type ${n}` })
  await harness.sync()
  harness.sandbox.state.addRule({ name: 'one more', ds_type: 'another type' })
  await harness.sync()
  expect(await found(harness)).toMatchObject([{ data: { values: 100 } }])
  expect(await harness.query('select count(*)::int as n from ferry.seen_values')).toEqual([{ n: 100 }])
})
