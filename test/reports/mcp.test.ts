import { expect, test } from 'vitest'
import { openTestStore } from '#test/support/store.ts'
import { insertServerVersion } from '#test/support/versions.ts'
import { ask, DAY, HOUR, minutesAgo } from './ask.ts'

test('mcp_tools and mcp_by_team show the current servers', async () => {
  await using store = await openTestStore()
  const from = minutesAgo(DAY)
  const search = { name: 'search', description: 'Finds' }
  await insertServerVersion(store.pool, {
    id: '1',
    name: 'A',
    from,
    team: 7,
    status: 'enabled',
    tools: [search, { name: 'get' }],
  })
  await insertServerVersion(store.pool, {
    id: '2',
    name: 'B',
    from: minutesAgo(90),
    team: 7,
    status: 'disabled',
    auth: 'shared',
    tools: [search],
  })
  await insertServerVersion(store.pool, {
    id: '3',
    name: 'C',
    from: minutesAgo(HOUR),
    team: 0,
    status: 'connecting',
    tools: [],
  })
  await insertServerVersion(store.pool, { id: '4', name: 'gone', from, to: minutesAgo(1), team: 7 })
  await insertServerVersion(store.pool, { account: 'b', id: '1', name: 'D', from, team: 7, tools: [search] })
  expect(
    await ask(store, 'mcp_tools', 'account tool server_id server_name team_id status description servers'),
  ).toEqual([
    ['a', 'get', '1', 'A', 7n, 'enabled', null, 1],
    ['a', 'search', '1', 'A', 7n, 'enabled', 'Finds', 2],
    ['a', 'search', '2', 'B', 7n, 'disabled', 'Finds', 2],
    ['b', 'search', '1', 'D', 7n, null, 'Finds', 1],
  ])
  expect(await ask(store, 'mcp_by_team', 'account team_id servers enabled tools shared last_change')).toEqual(
    [
      ['a', 7n, 2, 1, 3, 1, minutesAgo(90)],
      ['a', 0n, 1, 0, 0, 0, minutesAgo(HOUR)],
      ['b', 7n, 1, 0, 1, 0, from],
    ],
  )
})

test('mcp_tool_changes has what a known server gained, lost and described otherwise, old and new', async () => {
  await using store = await openTestStore()
  const versions = [
    [9 * DAY, 8 * DAY, [{ name: 'old', description: '1' }]],
    [
      8 * DAY,
      600,
      [
        { name: 'keep' },
        { name: 'lose', description: '1' },
        { name: 'tell', description: '1' },
        { name: 'twice' },
      ],
    ],
    // In another order: no change of the three that stay.
    [
      600,
      500,
      [
        { name: 'twice' },
        { name: 'tell', description: '2' },
        { name: 'keep' },
        { name: 'gain', description: '3' },
      ],
    ],
    [
      400,
      null,
      [
        { name: 'twice' },
        { name: 'twice', description: 'again' },
        { name: 'tell', description: '2' },
        { name: 'keep' },
        { name: 'gain', description: '3' },
      ],
    ],
  ] as const
  for (const [from, to, tools] of versions) {
    await insertServerVersion(store.pool, {
      name: 'S',
      tools,
      from: minutesAgo(from),
      to: to === null ? undefined : minutesAgo(to),
    })
  }
  await insertServerVersion(store.pool, { id: 'new', name: 'new', from: minutesAgo(600) })
  expect(
    await ask(store, 'mcp_tool_changes', 'account observed_at server_id change tool before after'),
  ).toEqual([
    ['a', minutesAgo(400), 's', 'added', 'twice', null, 'again'],
    ['a', minutesAgo(600), 's', 'added', 'gain', null, '3'],
    ['a', minutesAgo(600), 's', 'removed', 'lose', '1', null],
    ['a', minutesAgo(600), 's', 'description changed', 'tell', '1', '2'],
  ])
  expect(await ask(store, 'mcp_tool_changes', 'tool', { since: minutesAgo(500) })).toEqual([['twice']])
})

test('mcp_tool_changes counts tools of the same name, and tools without one, whatever their order', async () => {
  await using store = await openTestStore()
  const a = { name: 'a', description: '1' }
  const nameless = { description: 'n' } as unknown as typeof a
  const steps: [at: number, tools: readonly (typeof a)[], found: unknown[]][] = [
    [900, [a, nameless], []],
    [800, [a, a, nameless], [['added', 'a', null, '1']]],
    [700, [nameless, a, a], []],
    [600, [nameless, { ...a, description: '0' }, a, a], [['added', 'a', null, '0']]],
    // Which of the three has gone does not depend on where they stand.
    [500, [a, a, nameless], [['removed', 'a', '0', null]]],
    [
      400,
      [a, { ...nameless, description: 'm' }],
      [
        ['removed', 'a', '1', null],
        ['description changed', null, 'n', 'm'],
      ],
    ],
    [300, [a], [['removed', null, 'm', null]]],
    [200, [a, { name: '', description: 'm' }], [['added', '', null, 'm']]],
  ]
  for (const [n, [at, tools]] of steps.entries()) {
    const to = steps[n + 1]?.[0]
    await insertServerVersion(store.pool, {
      name: 'S',
      tools,
      from: minutesAgo(at),
      to: to === undefined ? undefined : minutesAgo(to),
    })
  }
  const found = await ask(store, 'mcp_tool_changes', 'observed_at change tool before after')
  for (const [at, , wanted] of steps) {
    const then = minutesAgo(at)
    expect(found.filter(([observedAt]) => `${observedAt}` === `${then}`).map(([, ...row]) => row)).toEqual(
      wanted,
    )
  }
})

test('mcp_risk names each reason, the gravest first, and finds nothing in a server without any', async () => {
  await using store = await openTestStore()
  const from = minutesAgo(DAY)
  const { pool } = store
  await insertServerVersion(pool, {
    id: 'good',
    name: 'Good',
    from,
    url: 'https://mcp.example.com',
    status: 'enabled',
    auth: 'oauth',
    description: 'Überblick 日本',
    toolCount: 4,
    tools: [{ name: 'get_issue' }, { name: 'undeleted_rows' }, { name: 'settings' }, { name: 'offset' }],
  })
  await insertServerVersion(pool, {
    id: '1',
    name: 'Twin',
    from,
    url: 'http://mcp.example.com',
    auth: 'shared',
    status: 'disabled',
    tools: [],
  })
  await insertServerVersion(pool, { id: '7', name: 'More', from, toolCount: 3, tools: [{ name: 'a' }] })
  await insertServerVersion(pool, { id: '8', name: 'None', from, toolCount: 0, tools: null })
  await insertServerVersion(pool, { id: '2', name: 'Twin', from, url: 'HTTPS://mcp.example.com', tools: [] })
  await insertServerVersion(pool, { account: 'b', id: '2', name: 'Twin', from, tools: [] })
  await insertServerVersion(pool, {
    id: '3',
    name: 'Verbs',
    from,
    tools: [
      { name: 'deleteBranch' },
      { name: 'issue-create' },
      { name: 'WIPE or DROP' },
      { name: 'close_or_delete' },
      { name: 'same' },
      { name: 'same' },
    ],
  })
  await insertServerVersion(pool, {
    id: '4',
    name: 'Hidden',
    from,
    description: 'Reads\u{e0041} only',
    tools: [{ name: 'get', description: 'Reads \u202Eeverything' }, { name: 'li\u200Bst' }],
  })
  await insertServerVersion(pool, {
    id: '5',
    name: 'gone',
    from,
    to: minutesAgo(1),
    url: 'http://x',
    tools: [],
  })
  // How people sign in stands beside each reason: a tool that deletes is worse where all share one account.
  expect(await ask(store, 'mcp_risk', 'server_id reason auth_mode')).toContainEqual([
    '1',
    'no https',
    'shared',
  ])
  expect(await ask(store, 'mcp_risk', 'account server_id severity reason tool detail')).toEqual([
    ['a', '4', 'high', 'invisible characters', 'get', 'U+202E'],
    ['a', '4', 'high', 'invisible characters', 'li\u200Bst', 'U+200B'],
    ['a', '4', 'high', 'invisible characters', null, 'U+E0041'],
    ['a', '1', 'high', 'no https', null, 'http://mcp.example.com'],
    ['a', '3', 'high', 'tool deletes', 'WIPE or DROP', 'wipe'],
    ['a', '3', 'high', 'tool deletes', 'close_or_delete', 'delete'],
    ['a', '3', 'high', 'tool deletes', 'deleteBranch', 'delete'],
    ['a', '7', 'medium', 'tool count differs', null, 'tool_count 3, tools 1'],
    ['a', '1', 'medium', 'name used twice', null, '2 servers'],
    ['a', '2', 'medium', 'name used twice', null, '2 servers'],
    ['a', '3', 'medium', 'tool name used twice', 'same', '2 tools'],
    ['a', '3', 'medium', 'tool writes', 'issue-create', 'create'],
    ['a', '1', 'low', 'disabled but listed', null, 'status disabled'],
    ['a', '1', 'low', 'shared credentials', null, 'auth_mode shared'],
  ])
})

test('mcp_tool_changes tells tools without a name apart by their order, as it does tools of one name', async () => {
  await using store = await openTestStore()
  const version = async (name: string, tools: readonly object[], from: number, to?: number) =>
    insertServerVersion(store.pool, {
      name,
      tools: tools as readonly { name: string }[],
      from: minutesAgo(from),
      ...(to !== undefined && { to: minutesAgo(to) }),
    })
  const a = { name: 'a', description: 'A' }
  await version('one', [{ description: 'nameless' }, a], DAY, 600)
  await version('two', [a, { description: 'nameless' }], 600, 500)
  await version('three', [a, a, { description: 'nameless' }, { description: 'another' }], 500, 400)
  await version('four', [a, a, { description: 'nameless' }, { description: 'changed' }], 400)
  expect(await ask(store, 'mcp_tool_changes', 'server_name change tool before after')).toEqual([
    ['four', 'description changed', null, 'another', 'changed'],
    ['three', 'added', 'a', null, 'A'],
    ['three', 'added', null, null, 'another'],
  ])
})
