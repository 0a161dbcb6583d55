import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { syncInventory } from '#src/inventory/sync.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { openMcpList, server } from '#test/support/mcp-list.ts'
import { rules, scriptedAccount, withAccounts } from './scripted-account.ts'

/** More than are written at once if they come within a second. */
const SERVERS = Array.from({ length: 200 }, (_, n) => `s${n}`)

test('a server that is added while the second pass is waited for begins after it was made', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const list = openMcpList(SERVERS, { maxPerPage: SERVERS.length + 1 })
  let madeAt: Date | undefined
  const account = scriptedAccount('default', () => rules([]))
  const listMcpPage: typeof list.listMcpPage = async (ask, context) => {
    if (ask.page === 1 && list.asked.length > 0 && madeAt === undefined) {
      await delay(500) // what is written before the second pass has its instant by then
      const [clock] = await harness.query<{ now: Date }>('select clock_timestamp() as now')
      madeAt = clock?.now
      list.rows = [...list.rows, server('late')]
    }
    return list.listMcpPage(ask, context)
  }
  const pageLimit = SERVERS.length + 1
  const context = withAccounts(harness, { ...account, pageLimit, client: { ...account.client, listMcpPage } })
  const request = { resource: 'mcp-servers', trigger: 'manual', account: 'default' } as const
  const run = await syncInventory(context, request, new AbortController().signal)
  expect(run).toMatchObject({ status: 'succeeded', added: 201 })
  expect(
    await harness.query(
      `select valid_from > $1 as is_after from ferry.mcp_server_versions where server_id = 'late'`,
      [madeAt],
    ),
  ).toEqual([{ is_after: true }])
})
