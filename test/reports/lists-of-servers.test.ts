import { expect, test } from 'vitest'
import type { PlaceOf } from '#src/db/list.ts'
import { RISKS } from '#src/reports/mcp-risks.ts'
import { TEAMS, TOOLS } from '#src/reports/mcp-servers.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertServerVersion } from '#test/support/versions.ts'
import { DAY, minutesAgo } from './ask.ts'

/* The lists about MCP servers: all of a row, what narrows them, and how a page goes on after another. */

async function openServers() {
  const store = await openTestStore()
  const from = minutesAgo(DAY)
  const add = (server: Parameters<typeof insertServerVersion>[1]) => insertServerVersion(store.pool, server)
  const tools = [{ name: 'merge' }, { name: 'find', description: 'Finds an ISSUE' }]
  await add({ id: '1', name: 'One', from, to: minutesAgo(90), team: 7, tools: [{ name: 'gone' }] })
  await add({ id: '1', name: 'One', from: minutesAgo(90), team: 7, status: 'enabled', tools })
  await add({ id: '2', name: 'Two', from, team: 7, auth: 'shared', tools: [{ name: 'find' }] })
  await add({ id: '3', name: 'Three', from, team: 0, status: 'disabled', tools: [] })
  await add({ account: 'b', id: '1', name: 'One of b', from, url: 'http://b', tools: [{ name: 'find' }] })
  return store
}

/** All rows, page by page. */
async function paged<Place>(
  load: (after: Place | null) => Promise<{ readonly rows: readonly unknown[]; readonly next: Place | null }>,
): Promise<unknown[]> {
  const rows: unknown[] = []
  for (let after: Place | null = null; ; ) {
    const part = await load(after)
    rows.push(...part.rows)
    if (part.next === null) return rows
    after = part.next
  }
}

test('the tools are listed by their name, narrowed by account and by a part of their texts', async () => {
  await using store = await openServers()
  const tool = (
    account: string,
    id: string,
    server: string,
    position: number,
    name: string,
    description: string | null,
  ) => ({
    account,
    id,
    server,
    position: `${position}`,
    tool: name,
    description,
  })
  const all = [
    tool('a', '1', 'One', 2, 'find', 'Finds an ISSUE'),
    tool('a', '2', 'Two', 1, 'find', null),
    tool('b', '1', 'One of b', 1, 'find', null),
    tool('a', '1', 'One', 1, 'merge', null),
  ]
  const load = (filter: { account?: string; text?: string }) =>
    TOOLS.load(store.pool, { filter, after: null, limit: 9 })
  expect(await load({})).toEqual({ rows: all, next: null })
  expect((await load({ account: 'b' })).rows).toEqual([all[2]])
  expect((await load({ text: 'issue' })).rows).toEqual([all[0]])
  expect((await load({ text: 'MERGE' })).rows).toEqual([all[3]])
  expect((await load({ text: 'one' })).rows).toEqual([])
  expect(
    await paged<PlaceOf<typeof TOOLS.order>>(after =>
      TOOLS.load(store.pool, { filter: {}, after, limit: 1 }),
    ),
  ).toEqual(all)
  const [first] = (await load({})).rows
  const cells = Object.entries(TOOLS.columns).map(([name, cell]) => `${name}: ${first && cell(first)}`)
  expect(cells).toEqual(['tool: find', 'server: One', 'id: 1', 'account: a', 'description: Finds an ISSUE'])
})

test('the teams are listed with what they have, those with the most servers first', async () => {
  await using store = await openServers()
  const all = [
    { account: 'a', team: '7', servers: 2, enabled: 1, tools: 3, shared: 1, lastChange: minutesAgo(90) },
    { account: 'a', team: '0', servers: 1, enabled: 0, tools: 0, shared: 0, lastChange: minutesAgo(DAY) },
    { account: 'b', team: null, servers: 1, enabled: 0, tools: 1, shared: 0, lastChange: minutesAgo(DAY) },
  ]
  expect(await TEAMS.load(store.pool, { filter: {}, after: null, limit: 9 })).toEqual({
    rows: all,
    next: null,
  })
  expect(
    await paged<PlaceOf<typeof TEAMS.order>>(after =>
      TEAMS.load(store.pool, { filter: {}, after, limit: 1 }),
    ),
  ).toEqual(all)
  const [first] = all
  const cells = Object.entries(TEAMS.columns).map(([name, cell]) => [name, first && cell(first)])
  expect(cells).toEqual([
    ['team', '7'],
    ['account', 'a'],
    ['servers', 2],
    ['enabled', 1],
    ['tools', 3],
    ['shared sign-in', 1],
    ['last change', minutesAgo(90)],
  ])
})

test('the risks are listed by how grave they are, with the count of each reason, whatever reason is asked for', async () => {
  await using store = await openServers()
  const risk = (
    account: string,
    id: string,
    severity: string,
    reason: string,
    tool: string | null,
    detail: string,
  ) => ({
    account,
    id,
    server: id === '3' ? 'Three' : account === 'b' ? 'One of b' : id === '1' ? 'One' : 'Two',
    team: account === 'b' ? null : id === '3' ? '0' : '7',
    severity,
    reason,
    tool,
    detail,
  })
  const all = [
    risk('b', '1', 'high', 'no https', null, 'http://b'),
    risk('a', '1', 'medium', 'tool writes', 'merge', 'merge'),
    risk('a', '3', 'low', 'disabled but listed', null, 'status disabled'),
    risk('a', '2', 'low', 'shared credentials', null, 'auth_mode shared'),
  ]
  const reasons = all.map(({ reason, severity }) => ({ reason, severity, risks: 1 }))
  const load = (filter: Parameters<typeof RISKS.load>[1]['filter']) =>
    RISKS.load(store.pool, { filter, after: null, limit: 9 })
  expect(await load({})).toEqual({ rows: all, next: null, reasons })
  expect(await load({ account: 'b' })).toEqual({ rows: [all[0]], next: null, reasons: [reasons[0]] })
  expect(await load({ reason: 'tool writes' })).toEqual({ rows: [all[1]], next: null, reasons })
  expect(await load({ account: 'c' })).toEqual({ rows: [], next: null, reasons: [] })
  expect(
    await paged<PlaceOf<typeof RISKS.order>>(after =>
      RISKS.load(store.pool, { filter: {}, after, limit: 1 }),
    ),
  ).toEqual(all)
  await insertServerVersion(store.pool, {
    id: '4',
    name: 'Four',
    from: minutesAgo(9),
    auth: 'shared',
    tools: [],
  })
  const counted = (await load({})).reasons.map(({ reason, risks }) => `${reason} ${risks}`)
  expect(counted).toEqual(['no https 1', 'tool writes 1', 'shared credentials 2', 'disabled but listed 1'])
})
