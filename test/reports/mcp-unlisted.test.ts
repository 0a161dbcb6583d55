import { expect, test } from 'vitest'
import { listToolChanges } from '#src/reports/mcp-tool-changes.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertServerVersion } from '#test/support/versions.ts'
import { ask, minutesAgo } from './ask.ts'

test('tools that the platform left out are no tools that went, and those before it are what the next are compared with', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const [find, merge] = [{ name: 'find' }, { name: 'merge' }]
  for (const [from, to, tools] of [
    [60, 50, [find]],
    [50, 40, null],
    [40, 30, [find]],
    [30, 20, null],
    [20, 0, [find, merge]],
  ] as const) {
    const until = to === 0 ? undefined : minutesAgo(to)
    await insertServerVersion(pool, { id: 's', name: 'S', from: minutesAgo(from), to: until, tools })
  }
  expect(await ask(store, 'mcp_tool_changes', 'observed_at change tool')).toEqual([
    [minutesAgo(20), 'added', 'merge'],
  ])
  const listed = await listToolChanges(pool, 9, {}, null)
  expect(listed.map(({ at, tools }) => [at, tools.map(({ tool }) => tool)])).toEqual([
    [minutesAgo(20), ['merge']],
  ])
})

test('a server whose tools are counted and not listed is a risk', async () => {
  await using store = await openTestStore()
  await insertServerVersion(store.pool, { id: 's', name: 'S', from: minutesAgo(9), tools: [] })
  await store.pool.query('update ferry.mcp_server_versions set tools = null, tool_count = 3')
  expect(await ask(store, 'mcp_risk', 'reason detail')).toEqual([
    ['tool count differs', 'tool_count 3, tools not listed'],
  ])
  await store.pool.query('update ferry.mcp_server_versions set tool_count = 0')
  expect(await ask(store, 'mcp_risk', 'reason detail')).toEqual([])
})

test.for([
  ['VMDelete', 'tool deletes', 'delete'],
  ['wipe_disk', 'tool deletes', 'wipe'],
  ['shutdownHost', 'tool deletes', 'shutdown'],
  ['getHTTPStatus', null, null],
  ['runCommand', 'tool writes', 'run'],
  ['stop-instance', 'tool writes', 'stop'],
  ['undeleted', null, null],
  ['run_delete', 'tool deletes', 'delete'],
  ['stopAndRemoveContainer', 'tool deletes', 'remove'],
] as const)('of the tool %s the verb is found: %s', async ([name, reason, verb]) => {
  await using store = await openTestStore()
  await insertServerVersion(store.pool, { id: 's', name: 'S', from: minutesAgo(9), tools: [{ name }] })
  await store.pool.query('update ferry.mcp_server_versions set tool_count = 1')
  expect(await ask(store, 'mcp_risk', 'reason detail')).toEqual(reason === null ? [] : [[reason, verb]])
})

test.for([
  ['⚠️ Deletes nothing', null],
  ['👩‍💻 for engineers, 👍🏽 and 1️⃣', null],
  ['the ™️ of others, ↔️', null],
  ['🐈‍⬛, 🐦‍⬛, 🙂‍↔️ and 🙂‍↕️', null],
  ['🏴󠁧󠁢󠁥󠁮󠁧󠁿, 🏴󠁧󠁢󠁳󠁣󠁴󠁿 and 🏴󠁧󠁢󠁷󠁬󠁳󠁿', null],
  ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}', 'U+E0067'],
  ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u{e0064}', 'U+E0064'],
  ['a\ufe0fb', 'U+FE0F'],
  ['a\u200db', 'U+200D'],
  ['⚠\u200db', 'U+200D'],
  ['⚠️\u200b', 'U+200B'],
  ['か\ufe0f', 'U+FE0F'],
  ['👍\u2060', 'U+2060'],
] as const)('invisible characters of emoji hide nothing, others do: %j', async ([description, found]) => {
  await using store = await openTestStore()
  const tools = [{ name: 'find', description }]
  await insertServerVersion(store.pool, { id: 's', name: 'S', from: minutesAgo(9), tools })
  await store.pool.query('update ferry.mcp_server_versions set tool_count = 1')
  expect(await ask(store, 'mcp_risk', 'reason detail')).toEqual(
    found === null ? [] : [['invisible characters', found]],
  )
})

test('invisible characters are found in the name and in the description of a server, and in those of a tool', async () => {
  await using store = await openTestStore()
  const hidden = (text: string) => `Or\u200Bders${text}`
  await insertServerVersion(store.pool, { id: '1', name: hidden('1'), from: minutesAgo(9), tools: [] })
  await insertServerVersion(store.pool, { id: '2', name: 'B', from: minutesAgo(9), tools: [] })
  const tools = [{ name: hidden('') }, { name: 'find', description: hidden('') }]
  await insertServerVersion(store.pool, { id: '3', name: 'C', from: minutesAgo(9), tools })
  await store.pool.query(`update ferry.mcp_server_versions set tool_count = jsonb_array_length(tools),
    description = case server_id when '2' then 'Or\u200Bders' else 'Plain' end`)
  expect(await ask(store, 'mcp_risk', 'server_id tool detail')).toEqual([
    ['2', null, 'U+200B'],
    ['3', hidden(''), 'U+200B'],
    ['3', 'find', 'U+200B'],
    ['1', null, 'U+200B'],
  ])
})
