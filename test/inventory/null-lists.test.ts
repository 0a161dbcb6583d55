import { expect, test } from 'vitest'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'

/*
 * The platform's published examples carry `null` where the contract says array.
 */

const EMPTY = { status: 'succeeded', seen: 0, added: 0, removed: 0, quarantined: 0, errorCode: null }

async function openWithNullLists(options: { rules?: number; servers?: number; maxPageSize?: number } = {}) {
  const harness = await openFerryHarness(options)
  harness.sandbox.state.emptyAsNull = true
  return harness
}

const currentServers = (harness: FerryHarness) => harness.query('select server_id from ferry.mcp_servers')

test('rules that are null are an empty list', async () => {
  await using harness = await openWithNullLists({ rules: 0 })
  expect(await harness.sync()).toMatchObject({ ...EMPTY, requests: 1 })
  expect(await harness.sync()).toMatchObject({ ...EMPTY, requests: 1 })
})

test('rules that are null where some were known go through the second listing and the guard', async () => {
  await using harness = await openWithNullLists({ rules: 3 })
  await harness.sync()
  for (const id of harness.sandbox.state.rules.ids()) harness.sandbox.state.removeRule(id)
  expect(await harness.sync()).toMatchObject({ status: 'held', seen: 0, removed: 0, requests: 2 })
  expect(await harness.query('select 1 from ferry.alert_rules')).toHaveLength(3)
  expect(await harness.sync({ acceptRemovals: true })).toMatchObject({ status: 'succeeded', removed: 3 })
})

test('rules that are null only once remove nothing', async () => {
  await using harness = await openWithNullLists({ rules: 3 })
  await harness.sync()
  let calls = 0
  harness.sandbox.state.onCall(() => {
    harness.sandbox.state.replaceRulesBody(++calls === 1 ? 'null' : null)
    return undefined
  })
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', seen: 0, removed: 0, requests: 2 })
})

test('servers that are null are an empty list', async () => {
  await using harness = await openWithNullLists({ servers: 0 })
  const mcp = { resource: 'mcp-servers' } as const
  expect(await harness.sync(mcp)).toMatchObject(EMPTY)
})

test('servers that are null where some were known go through the second listing and the guard', async () => {
  await using harness = await openWithNullLists({ servers: 3 })
  const mcp = { resource: 'mcp-servers' } as const
  await harness.sync(mcp)
  for (const id of harness.sandbox.state.servers.ids()) harness.sandbox.state.removeServer(id)
  expect(await harness.sync(mcp)).toMatchObject({ status: 'held', seen: 0, removed: 0, requests: 2 })
  expect(await currentServers(harness)).toHaveLength(3)
})

test('null past the last page ends the listing', async () => {
  await using harness = await openWithNullLists({ servers: 20, maxPageSize: 10 })
  const mcp = { resource: 'mcp-servers' } as const
  // Two full pages, and one that is null, read twice since the ids are new.
  expect(await harness.sync(mcp)).toMatchObject({ status: 'succeeded', seen: 20, added: 20, requests: 6 })
  harness.sandbox.state.removeServer(harness.sandbox.state.servers.ids()[0]!)
  expect(await harness.sync(mcp)).toMatchObject({ status: 'succeeded', seen: 19, removed: 1 })
})

test('tools that are null are an empty list, and no change when they come as one', async () => {
  await using harness = await openFerryHarness({ servers: 0 })
  const mcp = { resource: 'mcp-servers' } as const
  let tools = 'null'
  harness.sandbox.state.onCall(({ body }) => {
    const servers =
      (body as { p: number }).p === 1 ? `[{"server_id":"a","tools":${tools}},{"server_id":"b"}]` : 'null'
    harness.sandbox.state.replaceServersBody(`{"total":2,"servers":${servers}}`)
    return undefined
  })
  expect(await harness.sync(mcp)).toMatchObject({ status: 'succeeded', added: 2, quarantined: 0 })
  tools = '[]'
  expect(await harness.sync(mcp)).toMatchObject({ status: 'succeeded', changed: 0, unchanged: 2 })
  expect(await harness.query('select tools from ferry.mcp_servers order by server_id')).toEqual([
    { tools: [] },
    { tools: null },
  ])
})
