import { expect, test } from 'vitest'
import { listRisksOfServer } from '#src/reports/mcp-risks.ts'
import { type ChangePlace, listToolChanges } from '#src/reports/mcp-tool-changes.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertServerVersion, type Tool } from '#test/support/versions.ts'
import { ask, DAY, minutesAgo } from './ask.ts'

type Step = readonly [minutesAgo: number, run: number, tools: readonly Tool[]]

async function addServer({ pool }: TestStore, account: string, id: string, steps: readonly Step[]) {
  for (const [n, [from, openedBy, tools]] of steps.entries()) {
    const next = steps[n + 1]
    const to = next && minutesAgo(next[0])
    const version = { account, id, name: `${id} of ${account}`, from: minutesAgo(from), to, openedBy, tools }
    await insertServerVersion(pool, version)
  }
}

const [find, merge] = [
  { name: 'find', description: 'Finds' },
  { name: 'merge', description: 'Merges' },
]

/** Two accounts whose servers share an id, and one with another id that changes at the same moment. */
async function openChanged() {
  const store = await openTestStore()
  await addServer(store, 'a', 's', [
    [90, 1, [find]],
    [60, 2, [find, merge]],
    [30, 3, [merge, { ...find, description: 'Finds more' }]],
    // As in the beginning.
    [20, 9, [find]],
  ])
  await addServer(store, 'b', 's', [
    [90, 4, [merge]],
    [30, 5, []],
  ])
  await addServer(store, 'b', 't', [
    [90, 6, [find, merge]],
    [30, 7, [merge, find]],
  ])
  // Its first version; another account has an earlier one of that id.
  await addServer(store, 'a', 't', [[60, 8, [merge]]])
  return store
}

const changeOf = (account: string, id: string, minutes: number, run: string, ...tools: unknown[][]) => ({
  account,
  id,
  server: `${id} of ${account}`,
  at: minutesAgo(minutes),
  exactly: expect.any(String),
  run,
  tools: tools.map(([change, tool, before, after], n) => ({ nth: n, change, tool, before, after })),
})

/** As they are listed, with the place of each tool in the place of that of its server. */
async function listed(store: TestStore, ...[limit, filter, after]: Asked) {
  const found = await listToolChanges(store.pool, limit, filter, after ?? null)
  return found.map(one => ({ ...one, tools: one.tools.map((tool, n) => ({ ...tool, nth: n })) }))
}
type Asked = [limit: number, filter: Parameters<typeof listToolChanges>[2], after?: ChangePlace]

const CHANGES = () => [
  changeOf(
    'a',
    's',
    20,
    '9',
    ['description changed', 'find', 'Finds more', 'Finds'],
    ['removed', 'merge', 'Merges', null],
  ),
  changeOf('b', 't', 30, '7'),
  changeOf('b', 's', 30, '5', ['removed', 'merge', 'Merges', null]),
  changeOf('a', 's', 30, '3', ['description changed', 'find', 'Finds', 'Finds more']),
  changeOf('a', 's', 60, '2', ['added', 'merge', null, 'Merges']),
]

test('servers whose tools changed are listed with each change, the newest first', async () => {
  await using store = await openChanged()
  expect(await listed(store, 9, {})).toEqual(CHANGES())
  expect(await listed(store, 2, {})).toEqual(CHANGES().slice(0, 2))
})

test('the changes of tools are narrowed by account, from a time on and before one', async () => {
  await using store = await openChanged()
  const [newest, first, second, third, last] = CHANGES()
  expect(await listed(store, 9, { account: 'b' })).toEqual([first, second])
  expect(await listed(store, 9, { account: 'c' })).toEqual([])
  expect(await listed(store, 9, { since: minutesAgo(30) })).toEqual([newest, first, second, third])
  expect(await listed(store, 9, { until: minutesAgo(30) })).toEqual([last])
  expect(await listed(store, 9, { since: minutesAgo(60), until: minutesAgo(59) })).toEqual([last])
})

test('the list of changed tools goes on after the row where a page ended, also within one instant', async () => {
  await using store = await openChanged()
  const all: unknown[] = []
  let after: ChangePlace | undefined
  for (;;) {
    const [one]: Awaited<ReturnType<typeof listed>> = await listed(store, 1, {}, after)
    if (!one) break
    all.push(one)
    after = [one.exactly, one.account, one.id]
  }
  expect(all).toEqual(CHANGES())
})

test('the risks of one server are counted by reason, the gravest first', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const from = minutesAgo(DAY)
  const tools = ['delete_all', 'purge', 'merge', 'run'].map(name => ({ name }))
  await insertServerVersion(pool, { id: 's', name: 'S', from, url: 'http://s', auth: 'shared', tools })
  await insertServerVersion(pool, { id: 't', name: 'T', from, url: 'http://t', tools: [] })
  await insertServerVersion(pool, { account: 'b', id: 's', name: 'S', from, status: 'disabled', tools: [] })
  expect(await listRisksOfServer(pool, 'a', 's')).toEqual([
    { reason: 'no https', severity: 'high', risks: 1 },
    { reason: 'tool deletes', severity: 'high', risks: 2 },
    { reason: 'tool writes', severity: 'medium', risks: 2 },
    { reason: 'shared credentials', severity: 'low', risks: 1 },
  ])
  expect(await listRisksOfServer(pool, 'b', 's')).toEqual([
    { reason: 'disabled but listed', severity: 'low', risks: 1 },
  ])
  expect(await listRisksOfServer(pool, 'b', 't')).toEqual([])
})

/** The verbs that count. */
const DELETES =
  'clear delete destroy drop erase flush kill purge remove revoke shutdown terminate truncate uninstall unlink wipe'
const WRITES = `add apply cancel close create deploy disable drain edit enable exec execute grant insert invoke merge modify move patch
  post publish push put reboot rename reset restart rollback run scale send set start stop trigger update upload upsert write`

test('each verb of a tool that deletes or writes counts, and what only reads does not', async () => {
  await using store = await openTestStore()
  const verbs = [...DELETES.split(/\s+/), ...WRITES.split(/\s+/)]
  const reads = ['get', 'list', 'read', 'find', 'search', 'show', 'describe', 'count', 'wait', 'check']
  const tools = [...verbs, ...reads].map(name => ({ name: `x_${name}` }))
  await insertServerVersion(store.pool, { name: 'S', from: minutesAgo(DAY), tools })
  const found = await ask(store, 'mcp_risk', 'severity reason tool detail')
  const rowsOf = (severity: string, reason: string, words: string) =>
    words.split(/\s+/).map(verb => [severity, reason, `x_${verb}`, verb])
  expect(found).toEqual([
    ...rowsOf('high', 'tool deletes', DELETES),
    ...rowsOf('medium', 'tool writes', WRITES),
  ])
})
