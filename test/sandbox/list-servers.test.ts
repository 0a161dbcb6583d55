import { expect, test } from 'vitest'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { call, openSmallSandbox } from './sandbox-harness.ts'

async function page(sandbox: Sandbox, body: object) {
  const { total, servers } = (await call(sandbox, 'list-mcp-servers', body)).body.data
  return { total, ids: servers.map((server: { server_id: string }) => server.server_id) }
}

test('pages follow one another and together are every server', async () => {
  await using sandbox = await openSmallSandbox({ servers: 7 })
  const pages = [
    await page(sandbox, { p: 1, limit: 3 }),
    await page(sandbox, { p: 2, limit: 3 }),
    await page(sandbox, { p: 3, limit: 3 }),
    await page(sandbox, { p: 4, limit: 3 }),
  ]
  expect(pages.map(({ ids }) => ids.length)).toEqual([3, 3, 1, 0])
  expect(pages.map(({ total }) => total)).toEqual([7, 7, 7, 7])
  expect(pages.flatMap(({ ids }) => ids)).toEqual(sandbox.state.servers.ids())
})

test('without p and limit comes the first page of 20', async () => {
  await using sandbox = await openSmallSandbox({ servers: 25 })
  expect((await page(sandbox, {})).ids).toEqual(sandbox.state.servers.ids().slice(0, 20))
})

test('a page or a size out of bounds is clamped without a word', async () => {
  await using sandbox = await openSmallSandbox({ servers: 130 })
  const ids = sandbox.state.servers.ids()
  expect((await page(sandbox, { limit: 5_000 })).ids).toEqual(ids.slice(0, 100))
  expect((await page(sandbox, { p: 2, limit: 5_000 })).ids).toEqual(ids.slice(100))
  expect((await page(sandbox, { p: 0, limit: 0 })).ids).toEqual(ids.slice(0, 1))
  expect((await page(sandbox, { p: -3, limit: 2 })).ids).toEqual(ids.slice(0, 2))
})

test.for([{ p: '1' }, { limit: 1.5 }, { include_account: 1 }])('%o is an InvalidParameter', async body => {
  await using sandbox = await openSmallSandbox()
  const heard = await call(sandbox, 'list-mcp-servers', body)
  expect(heard).toMatchObject({ status: 400, body: { error: { code: 'InvalidParameter' } } })
  expect(heard.body.error.message).toContain(Object.keys(body)[0])
})

test('include_account false leaves out the account-level servers, in the total too', async () => {
  await using sandbox = await openSmallSandbox({ servers: 0 })
  sandbox.state.addServer({ team_id: 0n })
  const { server_id: teams } = sandbox.state.addServer({ team_id: 9n })
  expect(await page(sandbox, { include_account: false })).toEqual({ total: 1, ids: [teams] })
  expect((await page(sandbox, { include_account: true })).total).toBe(2)
  expect((await page(sandbox, {})).total).toBe(2)
})

test('total is exact, unless frozen: then pages go on beyond it', async () => {
  await using sandbox = await openSmallSandbox({ servers: 6 })
  sandbox.state.freezeTotalAt = 4
  expect(await page(sandbox, { p: 2, limit: 4 })).toMatchObject({ total: 4, ids: { length: 2 } })
  sandbox.state.freezeTotalAt = 100
  expect((await page(sandbox, {})).total).toBe(6)
})

test('a server may be put anywhere, changed and removed, and the next page shows it', async () => {
  await using sandbox = await openSmallSandbox({ servers: 3 })
  sandbox.breakContract()
  const { server_id: id } = sandbox.state.addServer({}, 1)
  sandbox.state.changeServer(id, { status: 'disabled', headers: { Authorization: 'never store me' } })
  const { servers } = (await call(sandbox, 'list-mcp-servers')).body.data
  expect(servers[1]).toMatchObject({ server_id: id, status: 'disabled', headers: expect.anything() })
  sandbox.state.removeServer(id)
  expect((await page(sandbox, {})).ids).toEqual(sandbox.state.servers.ids())
})

test('a body may be replaced word for word', async () => {
  await using sandbox = await openSmallSandbox()
  sandbox.state.replaceServersBody('{"total":"one","servers":[{}]}')
  expect((await call(sandbox, 'list-mcp-servers')).body.data).toEqual({ total: 'one', servers: [{}] })
})
