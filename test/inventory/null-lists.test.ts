import { expect, test } from 'vitest'
import { openWorld, type World } from '#test/support/world.ts'

/*
 * The platform's published examples carry `null` where the contract says array.
 */

const EMPTY = { status: 'succeeded', seen: 0, added: 0, removed: 0, quarantined: 0, errorCode: null }

async function openNullWorld(options: { rules?: number; servers?: number; maxPageSize?: number } = {}) {
  const world = await openWorld(options)
  world.sandbox.state.emptyAsNull = true
  return world
}

const currentServers = (world: World) => world.query('select server_id from ferry.mcp_servers')

test('rules that are null are an empty list', async () => {
  await using world = await openNullWorld({ rules: 0 })
  expect(await world.sync()).toMatchObject({ ...EMPTY, requests: 1 })
  expect(await world.sync()).toMatchObject({ ...EMPTY, requests: 1 })
})

test('rules that are null where some were known go through the second listing and the guard', async () => {
  await using world = await openNullWorld({ rules: 3 })
  await world.sync()
  for (const id of world.sandbox.state.rules.ids()) world.sandbox.state.removeRule(id)
  expect(await world.sync()).toMatchObject({ status: 'held', seen: 0, removed: 0, requests: 2 })
  expect(await world.query('select 1 from ferry.alert_rules')).toHaveLength(3)
  expect(await world.sync({ acceptRemovals: true })).toMatchObject({ status: 'succeeded', removed: 3 })
})

test('rules that are null only once remove nothing', async () => {
  await using world = await openNullWorld({ rules: 3 })
  await world.sync()
  let calls = 0
  world.sandbox.state.onCall(() => {
    world.sandbox.state.replaceRulesBody(++calls === 1 ? 'null' : null)
    return undefined
  })
  expect(await world.sync()).toMatchObject({ status: 'succeeded', seen: 3, removed: 0, requests: 2 })
})

test('servers that are null are an empty list', async () => {
  await using world = await openNullWorld({ servers: 0 })
  const mcp = { resource: 'mcp-servers' } as const
  expect(await world.sync(mcp)).toMatchObject(EMPTY)
})

test('servers that are null where some were known go through the second listing and the guard', async () => {
  await using world = await openNullWorld({ servers: 3 })
  const mcp = { resource: 'mcp-servers' } as const
  await world.sync(mcp)
  for (const id of world.sandbox.state.servers.ids()) world.sandbox.state.removeServer(id)
  expect(await world.sync(mcp)).toMatchObject({ status: 'held', seen: 0, removed: 0, requests: 2 })
  expect(await currentServers(world)).toHaveLength(3)
})

test('null past the last page ends the listing', async () => {
  await using world = await openNullWorld({ servers: 20, maxPageSize: 10 })
  const mcp = { resource: 'mcp-servers' } as const
  // Two full pages, and one that is null, read twice since the ids are new.
  expect(await world.sync(mcp)).toMatchObject({ status: 'succeeded', seen: 20, added: 20, requests: 6 })
  world.sandbox.state.removeServer(world.sandbox.state.servers.ids()[0]!)
  expect(await world.sync(mcp)).toMatchObject({ status: 'succeeded', seen: 19, removed: 1 })
})

test('tools that are null are an empty list, and no change when they come as one', async () => {
  await using world = await openWorld({ servers: 0 })
  const mcp = { resource: 'mcp-servers' } as const
  let tools = 'null'
  world.sandbox.state.onCall(({ body }) => {
    const servers =
      (body as { p: number }).p === 1 ? `[{"server_id":"a","tools":${tools}},{"server_id":"b"}]` : 'null'
    world.sandbox.state.replaceServersBody(`{"total":2,"servers":${servers}}`)
    return undefined
  })
  expect(await world.sync(mcp)).toMatchObject({ status: 'succeeded', added: 2, quarantined: 0 })
  tools = '[]'
  expect(await world.sync(mcp)).toMatchObject({ status: 'succeeded', changed: 0, unchanged: 2 })
  expect(await world.query('select tools from ferry.mcp_servers order by server_id')).toEqual([
    { tools: [] },
    { tools: null },
  ])
})
