import { expect, test } from 'vitest'
import { approveRun, rejectRun } from '#src/inventory/holds/approve.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { mcpPage } from '#test/support/mcp-list.ts'
import { rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

const NEVER = new AbortController().signal
const SMALL = { rules: 0, servers: 0 }
const HELD = { kind: 'removals.held', account: 'default', subject: 'alert-rules' }

function events(harness: FerryHarness) {
  return harness.query(
    `select kind, state, account, subject, data from ferry.events where kind not like 'rule.%' order by id`,
  )
}

/** Without the values that the platform sends for the first time. */
async function toolEvents(harness: FerryHarness) {
  return (await events(harness)).filter(({ kind }) => kind === 'mcp.tools.changed')
}

async function hold(harness: FerryHarness): Promise<bigint> {
  await syncListed(harness, [rules(upTo(20))])
  return (await syncListed(harness, [rules(upTo(5))])).run
}

test('a hold is told once, with its run and rows, however often it is seen again, and once that it is approved', async () => {
  await using harness = await openFerryHarness(SMALL)
  const run = await hold(harness)
  await syncListed(harness, [rules(upTo(5))])
  const data = { inventory: 'alert-rules', run: `${run}`, rows: 15 }
  expect(await events(harness)).toEqual([{ ...HELD, state: 'raised', data }])
  const account = scriptedAccount('default', () => rules(upTo(5)))
  await approveRun(withAccounts(harness, account), run, ADA, NEVER)
  expect(await events(harness)).toEqual([
    { ...HELD, state: 'raised', data },
    { ...HELD, state: 'resolved', data },
  ])
})

test('a hold that is rejected, or whose rows are listed again, is told to be over', async () => {
  await using harness = await openFerryHarness(SMALL)
  await rejectRun(harness.ferry, await hold(harness), ADA)
  await syncListed(harness, [rules(upTo(20))])
  await hold(harness)
  await syncListed(harness, [rules(upTo(20))])
  const states = (await events(harness)).map(event => event.state)
  expect(states).toEqual(['raised', 'resolved', 'raised', 'resolved'])
})

test('a hold that another one takes the place of is told to be over, and the next is told', async () => {
  await using harness = await openFerryHarness(SMALL)
  const one = { folders: [1n] }
  await syncListed(harness, [rules(upTo(20))], one)
  const before = await hold(harness)
  const { run: after } = await syncListed(harness, [rules(upTo(4))], one)
  const told = (await events(harness)).map(({ state, data }) => [state, (data as { run: string }).run])
  expect(told).toEqual([
    ['raised', `${before}`],
    ['resolved', `${before}`],
    ['raised', `${after}`],
  ])
})

test('fields outside the contract are told once, and their number alone', async () => {
  await using harness = await openFerryHarness(SMALL)
  harness.sandbox.breakContract()
  harness.sandbox.state.addRule({ runbook: 'a secret' })
  const { run } = await harness.sync()
  harness.sandbox.state.addRule({ runbook: 'another' })
  await harness.sync()
  const ofFields = (await events(harness)).filter(({ data }) => (data as { fields: number }).fields > 0)
  expect(ofFields).toEqual([
    {
      kind: 'drift.found',
      state: 'raised',
      account: 'default',
      subject: 'alert-rules',
      data: { inventory: 'alert-rules', run: `${run}`, fields: 1, values: 0 },
    },
  ])
})

test('changed tools of MCP servers are told with their servers; their order and new servers are not', async () => {
  await using harness = await openFerryHarness(SMALL)
  const { state } = harness.sandbox
  const sync = () => harness.sync({ resource: 'mcp-servers' })
  const [a, b] = [
    { name: 'a', description: 'Reads' },
    { name: 'b', description: 'Writes' },
  ] as const
  const { server_id: id } = state.addServer({ tools: [a, b] })
  const { server_id: other } = state.addServer({ tools: [] })
  await sync()
  state.changeServer(id, { tools: [b, a], description: 'moved' })
  state.changeServer(other, { status: 'another' })
  state.addServer({ tools: [a] })
  expect(await sync()).toMatchObject({ changed: 2 })
  expect(await toolEvents(harness)).toEqual([])

  state.changeServer(id, { tools: [a, { ...b, description: 'Deletes' }] })
  const { run } = await sync()
  expect(await toolEvents(harness)).toMatchObject([
    {
      kind: 'mcp.tools.changed',
      data: { inventory: 'mcp-servers', run: `${run}`, servers: 1, serverIds: [id] },
    },
  ])
  state.changeServer(other, { tools: [a] })
  await sync()
  state.changeServer(id, { tools: [a] })
  await sync()
  expect(await toolEvents(harness)).toMatchObject([
    {},
    { data: { serverIds: [other] } },
    { data: { serverIds: [id] } },
  ])
})

test('a server that was gone for a while and returns with other tools is told', async () => {
  await using harness = await openFerryHarness(SMALL)
  const { state } = harness.sandbox
  const sync = () => harness.sync({ resource: 'mcp-servers', acceptRemovals: true })
  const a = { name: 'a', description: 'Reads' }
  const gone = state.addServer({ tools: [a] })
  const same = state.addServer({ tools: [a] })
  await sync()
  for (const { server_id } of [gone, same]) state.removeServer(server_id)
  await sync()
  state.addServer({ server_id: gone.server_id, tools: [{ name: 'purge', description: 'All' }] })
  state.addServer({ server_id: same.server_id, tools: [a] })
  state.addServer({ tools: [a] })
  await sync()
  expect(await toolEvents(harness)).toMatchObject([{ data: { servers: 1, serverIds: [gone.server_id] } }])
})

test('of many servers whose tools changed the first twenty are named', async () => {
  await using harness = await openFerryHarness(SMALL)
  const { state } = harness.sandbox
  const sync = () => harness.sync({ resource: 'mcp-servers' })
  const ids = Array.from({ length: 21 }, () => state.addServer({ tools: [] }).server_id)
  await sync()
  for (const id of ids) state.changeServer(id, { tools: [{ name: 'a', description: 'Reads' }] })
  await sync()
  expect(await events(harness)).toMatchObject([
    { data: { servers: 21, serverIds: ids.toSorted().slice(0, 20) } },
  ])
})

test('one more tool of the same name is told, and so is one that has no name', async () => {
  await using harness = await openFerryHarness(SMALL)
  const a = { name: 'a', description: 'Reads' }
  const [one, two] = [{ description: '1' }, { description: '2' }]
  const lists = [[a, one], [a, a, one], [a, one], [a, two], [a]]
  for (const [n, tools] of lists.entries()) {
    const account = scriptedAccount('default', () => [])
    const listMcpPage: typeof account.client.listMcpPage = async ({ page }) => {
      const rows = page === 1 ? [{ server_id: 's', server_name: 'S', tools }] : []
      return { ok: true, requestId: 'r', requests: 1, data: mcpPage(rows, 1) }
    }
    const context = withAccounts(harness, { ...account, client: { ...account.client, listMcpPage } })
    const request = { account: 'default', resource: 'mcp-servers', trigger: 'manual' } as const
    expect(await syncInventory(context, request, NEVER)).toMatchObject({ status: 'succeeded' })
    expect(await events(harness)).toHaveLength(n)
  }
})
