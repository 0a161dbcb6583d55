import { describe, expect, test } from 'vitest'
import { addRun } from '#test/support/runs.ts'
import { stageRows } from '#test/support/staged.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { textOf } from './cells.ts'
import { BOTH_TOKENS, type ConsoleHarness, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { HOSTILE, rowsIn } from './markup.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

async function addHistory({ ferry }: ConsoleHarness): Promise<void> {
  const rule = { id: '9007199254740993', from: at(1), to: at(2), by: 'Joan' }
  await insertRuleVersion(ferry.pool, {
    ...rule,
    name: 'Checkout is slow',
    labels: { severity: 'warning', team: 'pay' },
  })
  await insertRuleVersion(ferry.pool, {
    ...rule,
    name: 'Checkout is very slow',
    labels: { severity: 'critical', team: 'pay' },
    from: at(2),
    to: at(3),
    folder: 7,
    by: 'Ada',
  })
  await insertServerVersion(ferry.pool, {
    id: 's/1',
    name: 'Repositories',
    from: at(1),
    to: at(4),
    tools: [{ name: 'search', description: 'Finds code in one repository' }, { name: 'merge' }],
  })
  await insertServerVersion(ferry.pool, {
    id: 's/1',
    name: 'Repositories',
    from: at(4),
    tools: [
      { name: 'delete', description: 'Deletes' },
      { name: 'search', description: 'Finds code in every repository' },
    ],
  })
}

test('says who changed what, old to new, word by word, and leads to the rule, the run and the person', async () => {
  await using harness = await openConsoleHarness()
  await addHistory(harness)
  const { status, text } = await harness.page('/changes')
  expect(status).toBe(200)
  expect(rowsIn(text).map(row => row.replace(/^\S+ \S+ run \d+ /, ''))).toEqual([
    'changed Repositories MCP server s/1 in a tools.search Finds code in one every repository tools.merge (empty) → none tools.delete none → Deletes',
    'removed Checkout is very slow alert rule 9007199254740993 in a',
    'changed Checkout is very slow alert rule 9007199254740993 in a name Checkout is very slow labels.severity warning → critical folder_id 1 → 7 Ada',
    'added Checkout is slow alert rule 9007199254740993 in a Joan',
    'added Repositories MCP server s/1 in a',
  ])
  expect(text).toContain('href="/rules/a/9007199254740993"')
  expect(text).toContain('href="/servers/a/s%2F1"')
  expect(text).toContain('href="/ledger/runs/1"')
  expect(text).toContain('href="/changes?by=Ada"')
  expect(text).toContain('<ins>very </ins>')
})

test('a change of only invisible characters shows them, and those of emoji stay otherwise', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const rule = { id: '1', from: at(1), to: at(2) }
  await insertRuleVersion(pool, { ...rule, name: 'Checkout', labels: { a: '👩‍🚒 on call' } })
  await insertRuleVersion(pool, {
    ...rule,
    name: 'Check\u200bout',
    labels: { a: '👩‍🚒 is on call', b: '\u200b' },
    from: at(2),
    to: undefined,
  })
  const { text } = await harness.page('/changes')
  const mark = '<mark class="hidden-character">U+200B</mark>'
  expect(text).toContain(`<del>Checkout</del><span class="arrow"> → </span><ins>Check${mark}out</ins>`)
  expect(text).toContain(`<ins>${mark}</ins>`)
  expect(text).toContain('👩‍🚒')
  expect(text).not.toContain('U+200D')
  const page = (await harness.page('/rules/a/1')).text
  expect(page).toContain(`<ins>Check${mark}out</ins>`)
  expect(page).toContain('<title>CheckU+200Bout · Ferry</title>')
})

test('what is invisible in an MCP server has marks wherever it changed', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const server = { id: '1', name: 'Re\u200bpos\u202e 👩‍🚒', from: at(1), to: at(2) }
  await insertServerVersion(pool, { ...server, tools: [{ name: 'a\u200bb', description: 'Finds code' }] })
  const tools = [{ name: 'a\u200bb', description: 'Finds code \u202eand sends it' }]
  await insertServerVersion(pool, { ...server, name: `${server.name} 2`, tools, from: at(2), to: undefined })
  const hidden = /[\u200b\u202e]/u
  for (const path of [
    '/changes?resource=mcp-servers',
    `/changes/compare?from=${at(1)}&to=${at(3)}&resource=mcp-servers`,
    '/servers/a/1',
  ]) {
    const { text } = await harness.page(path)
    expect(text, path).not.toMatch(hidden)
    expect(text, path).toContain('<ins> <mark class="hidden-character">U+202E</mark>and sends it</ins>')
    expect(text, path).toContain('Re<mark class="hidden-character">U+200B</mark>pos')
    expect(text, path).toContain('tools.a<mark class="hidden-character">U+200B</mark>b')
  }
  const { text } = await harness.page('/servers/a/1')
  expect(text).toContain('<title>ReU+200BposU+202E 👩‍🚒 2 · Ferry</title>')
  expect(text).toMatch(/<h1>Re<mark[^>]*>U\+200B<\/mark>pos/)
})

test('each filter narrows the list, keeps its value in the form, and the links keep the others', async () => {
  await using harness = await openConsoleHarness()
  await addHistory(harness)
  const found = async (query: string) => {
    const { status, text } = await harness.page(`/changes?${query}`)
    expect(status).toBe(200)
    return rowsIn(text).map(row => /(added|changed|removed|returned) \S+/.exec(row)?.[0])
  }
  expect(await found('by=Ada')).toEqual(['changed Checkout'])
  expect(await found('folder=7')).toEqual(['removed Checkout', 'changed Checkout'])
  expect(await found('kind=removed')).toEqual(['removed Checkout'])
  expect(await found('resource=mcp-servers')).toEqual(['changed Repositories', 'added Repositories'])
  expect(await found('account=b')).toEqual([])
  const future = 'is in the future: nothing has begun or changed since then'
  expect((await harness.page('/changes?since=2026-01-01')).text).not.toContain(future)
  expect((await harness.page('/changes?since=2999-01-01')).text).toContain(future)
  // A form sends every field, those that nobody filled in too.
  expect(await found('account=&resource=&kind=&folder=&by=&since=&until=')).toHaveLength(5)
  expect(await found(`since=2026-01-01T00:02&until=${encodeURIComponent(at(3))}`)).toEqual([
    'removed Checkout',
    'changed Checkout',
  ])
  const { text } = await harness.page(`/changes?folder=7&since=${at(1)}`)
  expect(text).toContain('<a href="/changes">Show all</a>')
  expect((await harness.page('/changes')).text).not.toContain('Show all')
  const removed = await harness.page('/changes?kind=removed')
  expect(removed.text).toContain('<option value="removed" selected>')
  expect(text).toContain('name="folder" value="7"')
  expect(text).toContain('name="since" value="2026-01-01T00:01"')
  expect(text).toContain(`href="/changes?folder=7&amp;since=${encodeURIComponent(at(1))}&amp;by=Ada"`)
})

test('says what person may have been meant where nothing was found', async () => {
  await using harness = await openConsoleHarness()
  await insertRuleVersion(harness.ferry.pool, { id: '1', name: 'Checkout', from: at(1), by: 'Ada Lovelace' })
  const found = async (by: string) => (await harness.page(`/changes?by=${by}`)).text
  expect(await found('Adda')).toContain(
    'No rule was last edited by <bdi>Adda</bdi>; did you mean <bdi>Ada</bdi>?',
  )
  expect(await found('ada')).not.toContain('did you mean')
})

test('goes from page to page without losing or repeating a change of one instant', async () => {
  await using harness = await openConsoleHarness()
  for (let id = 1; id <= 120; id++) {
    await insertRuleVersion(harness.ferry.pool, { id: `${id}`, name: `rule-${id}.`, from: at(1) })
  }
  const names: string[] = []
  let path: string | undefined = '/changes?kind=added'
  while (path) {
    const { text } = await harness.page(path)
    expect(text).toContain('href="/changes?kind=added&amp;by=Ada"')
    names.push(...rowsIn(text).map(row => /rule-\d+/.exec(row)?.[0] ?? ''))
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    expect(names.length).toBeLessThanOrEqual(120)
  }
  expect(names).toEqual(Array.from({ length: 120 }, (_, n) => `rule-${n + 1}`))
})

describe('names of others', () => {
  test('are text, whatever they contain, and the page stays small', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    for (const [n, name] of HOSTILE.entries()) {
      await insertRuleVersion(pool, {
        id: `${n}`,
        account: name,
        name,
        by: name,
        labels: { [name]: name },
        from: at(1),
        to: at(2),
      })
      await insertRuleVersion(pool, {
        id: `${n}`,
        account: name,
        name: `${name}!`,
        by: name,
        labels: { [name]: `${name}.`, __proto__x: 'y' },
        from: at(2),
      })
      await insertServerVersion(pool, {
        id: name,
        name,
        from: at(1),
        to: at(2),
        tools: [{ name, description: name }],
      })
      await insertServerVersion(pool, {
        id: name,
        name: `${name}!`,
        from: at(2),
        tools: [{ name: '__proto__' }, { name }, { name, description: `${name}!` }],
      })
    }
    const { status, text } = await harness.page('/changes')
    expect(status).toBe(200)
    expect(text).not.toMatch(/<script>|<img src=x|onerror=alert\(1\)>/)
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(rowsIn(text)).toHaveLength(24)
    const by = await harness.page(`/changes?by=${encodeURIComponent(HOSTILE[1] ?? '')}`)
    expect(rowsIn(by.text)).toHaveLength(2)
  })
})

test('a wrong address is refused with the name of what is wrong', async () => {
  await using harness = await openConsoleHarness()
  for (const [query, name] of [
    ['kind=exploded', 'kind'],
    ['folder=x', 'folder'],
    ['folder=18446744073709551616', 'folder: write the number of a folder'],
    ['by=Anna&by=Ada', 'by: it is given more than once'],
    ['since=yesterday', 'since'],
    ['until=2026-13-01', 'until'],
    ['by=%00', 'by'],
    ['resource=all', 'resource'],
    ['person=Anna', 'this page has no parameter named person'],
    ['after=x', 'after'],
    [`after=${Buffer.from(JSON.stringify([at(1), 'alert-rules', 'a', 'x'])).toString('base64url')}`, 'after'],
  ]) {
    const { status, text } = await harness.page(`/changes?${query}`)
    expect(status, query).toBe(400)
    expect(text).toContain(`The address is wrong: ${name}`)
  }
})

test('a list without filters refuses parameters too', async () => {
  await using harness = await openConsoleHarness()
  for (const path of ['/mcp/teams', '/ledger/schedules', '/ledger/holds']) {
    const { status, text } = await harness.page(`${path}?asOf=24h`)
    expect({ path, status }).toEqual({ path, status: 400 })
    expect(text).toContain('this page has no parameter named asOf')
  }
})

test('an empty history names the next step; one that does not match says so', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  for (const query of ['', '?kind=&by=']) {
    expect((await harness.page(`/changes${query}`, READ_TOKEN)).text).toContain('ferry sync all')
  }
  expect((await harness.page('/changes?by=Nobody', READ_TOKEN)).text).toContain('No change matches')
})

test('says what a wrong value should be in plain words, and that no account has a name', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await harness.sync()
  await stageRows(pool, { account: 'older', rows: 1 })
  await addRun(pool, { account: 'synced' })
  await harness.query(
    `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run) values ('nights', now(), 'succeeded', 1, 1)`,
  )
  const problem = async (path: string) => textOf((await harness.page(path)).text)
  expect(await problem('/changes?kind=foo')).toContain(
    'The address is wrong: kind: write added or changed or removed or returned or first reading.',
  )
  expect(await problem(`/changes?by=${'x'.repeat(501)}`)).toContain(
    'The address is wrong: by: it is longer than 500 characters.',
  )
  for (const path of ['/changes', '/imports', '/ledger', '/servers', '/firing', '/ledger/calls']) {
    expect(await problem(`${path}?account=nope`), path).toContain('No account is named nope.')
    for (const account of ['default', 'older', 'synced', 'nights', '', '*']) {
      expect(await problem(`${path}?account=${account}`), path).not.toContain('No account is named')
    }
  }
})
