import { expect, test } from 'vitest'
import { openFerryHarness } from '#test/support/ferry-harness.ts'

const MCP = { resource: 'mcp-servers' } as const

test('every server is carried, tools and all, whatever the platform makes of the page size', async () => {
  await using harness = await openFerryHarness({ servers: 57, maxPageSize: 10 })
  const result = await harness.sync(MCP)
  expect(result).toMatchObject({ status: 'succeeded', seen: 57, added: 57 })
  const servers = await harness.query(
    'select server_id, server_name, tools from ferry.mcp_servers order by server_id',
  )
  const wanted = harness.sandbox.state.servers.rows().sort((a, b) => (a.server_id < b.server_id ? -1 : 1))
  expect(servers).toEqual(
    wanted.map(({ server_id, server_name, tools }) => ({ server_id, server_name, tools })),
  )
  const tools = await harness.query<{ n: number }>('select count(*)::int as n from ferry.mcp_server_tools')
  expect(tools[0]!.n).toBe(wanted.reduce((sum, server) => sum + (server.tools?.length ?? 0), 0))
})

test('an unchanged listing is read once; a changed set of ids is read twice', async () => {
  // One page of servers, and one that is empty: a page shorter than asked for may be the longest the platform gives.
  await using harness = await openFerryHarness({ servers: 25 })
  expect(await harness.sync(MCP)).toMatchObject({ added: 25, requests: 4 })
  expect(await harness.sync(MCP)).toMatchObject({ unchanged: 25, requests: 2 })
  const [changed, removed] = harness.sandbox.state.servers.rows()
  harness.sandbox.state.changeServer(changed!.server_id, { description: 'new' })
  expect(await harness.sync(MCP)).toMatchObject({ changed: 1, requests: 2 })
  harness.sandbox.state.removeServer(removed!.server_id)
  expect(await harness.sync(MCP)).toMatchObject({ status: 'succeeded', removed: 1, requests: 4 })
})

test('a listing that shifts all the time is partial: it adds and changes, and removes nothing', async () => {
  await using harness = await openFerryHarness({ servers: 50, maxPageSize: 10 })
  await harness.sync(MCP)
  let calls = 0
  harness.sandbox.state.onCall(() => {
    const [first] = harness.sandbox.state.servers.rows()
    if (++calls % 3 === 0) {
      harness.sandbox.state.removeServer(first!.server_id)
      harness.sandbox.state.addServer()
    }
    return undefined
  })
  const result = await harness.sync(MCP)
  expect(result).toMatchObject({ status: 'partial', removed: 0, errorCode: 'ListingIncomplete' })
  expect(result.added).toBeGreaterThan(0)
  expect(result.message).toContain('nothing was removed')
})

test('a total frozen below the number of servers does not end the listing early', async () => {
  await using harness = await openFerryHarness({ servers: 45, maxPageSize: 10 })
  harness.sandbox.state.freezeTotalAt = 20
  expect(await harness.sync(MCP)).toMatchObject({ status: 'succeeded', seen: 45, added: 45 })
})

test('account-level servers left out by a narrower scope are not removed by its first run', async () => {
  await using harness = await openFerryHarness({ servers: 30 })
  await harness.sync(MCP)
  const before = await harness.query('select 1 from ferry.mcp_servers')
  const narrower = await harness.openFerry({ FERRY_INCLUDE_ACCOUNT: 'false' })
  const { syncInventory } = await import('#src/inventory/sync.ts')
  const request = { account: 'default', trigger: 'manual', ...MCP } as const
  const result = await syncInventory(narrower, request, new AbortController().signal)
  expect(result).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(result.seen).toBeLessThan(30)
  expect(await harness.query('select 1 from ferry.mcp_servers')).toEqual(before)
})
