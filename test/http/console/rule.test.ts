import { expect, test } from 'vitest'
import { DECLARATIONS } from '#src/model/declarations.ts'
import { DAY_MS } from '#src/model/duration.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { addRun } from '#test/support/runs.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { openConsoleHarness } from './console-harness.ts'
import { HOSTILE, rowsIn } from './markup.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

/** Yesterday, after midnight. */
const YESTERDAY_MS = Math.floor(Date.now() / DAY_MS - 1) * DAY_MS
const lately = (minute: number) => new Date(YESTERDAY_MS + minute * 60_000).toISOString()
/** As the page shows it. */
const shown = (minute: number) => lately(minute).slice(0, 19).replace('T', ' ')

test.for([
  [30, ''],
  [31, 'and 1 more'],
] as const)('of %i labels thirty are shown, and the others counted', async ([count, more]) => {
  await using harness = await openConsoleHarness()
  const labels = Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, 'x']))
  await insertRuleVersion(harness.ferry.pool, { id: '7', name: 'Many', labels, from: lately(1) })
  const { text } = await harness.page('/rules/a/7')
  const [, list = ''] = /aria-label="Labels">(.*?)<\/ul>/s.exec(text) ?? []
  expect(list.match(/<li>[^a]/g)).toHaveLength(30)
  expect(/<li>(and .*?)<\/li>/.exec(list)?.[1] ?? '').toBe(more)
})

test('a rule has its versions, firings and edits on one time line, the newest first', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = '18446744073709551615'
  const labels = { team: 'pay', runbook: 'https://example.com/r' }
  await insertRuleVersion(pool, {
    id,
    name: 'Checkout is slow',
    labels,
    from: lately(1),
    to: lately(10),
    by: 'Joan',
  })
  await insertRuleVersion(pool, {
    id,
    name: 'Checkout is very slow',
    labels,
    from: lately(10),
    by: 'Ada',
    enabled: false,
    flags: ['timezone is not an IANA name'],
  })
  await insertRuleVersion(pool, { account: 'b', id, name: 'Another', from: lately(5) })
  await insertFiring(pool, { id, from: lately(3), to: lately(5) })
  await insertFiring(pool, { id, from: lately(10) })
  const { status, text } = await harness.page(`/rules/a/${id}`)
  expect(status).toBe(200)
  const [strip = '', history = ''] = text.split('</figure>')
  expect(rowsIn(strip)).toEqual([`${shown(10)} still firing –`, `${shown(3)} ${shown(5)} 2 min`])
  expect(strip).toMatch(/<title>\u2068disabled by Ada\u2069, [-\d]+ [:\d]+<\/title>/)
  expect(strip).toContain('2 firings and 2 changes')
  expect(rowsIn(history).map(row => row.replace(/^.*? ago /, ''))).toEqual([
    'changed name Checkout is very slow enabled true → false Ada run 1',
    'firing since then',
    `fired for 2 min, until ${shown(5)}`,
    'added Joan run 1',
  ])
  expect(text).toContain('<h1>Checkout is very slow</h1>')
  for (const known of [
    'disabled',
    'firing',
    'pay',
    'runbook',
    'timezone is not an IANA name',
    '/changes?account=a&amp;folder=1',
    '/changes?by=Ada',
  ]) {
    expect(text).toContain(known)
  }
  expect(text).not.toContain('Another')
})

test('of what fired lately the last days are drawn, with what is not known of them; of what did not, all that is on the page', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const nowMs = Date.now()
  const daysAgo = (days: number) => new Date(nowMs - days * DAY_MS).toISOString()
  for (const id of ['1', '2']) {
    await insertRuleVersion(pool, { id, name: 'Slow', from: daysAgo(40), to: daysAgo(30) })
    await insertRuleVersion(pool, { id, name: 'Slower', from: daysAgo(30), by: 'Ada' })
    await insertFiring(pool, { id, from: daysAgo(20), to: daysAgo(19) })
  }
  await insertFiring(pool, { id: '1', from: daysAgo(2), to: daysAgo(1) })
  // Of the others nothing was known for longer.
  for (const account of ['a', 'b']) await addRun(pool, { account })
  const stripOf = async (id: string) =>
    (await harness.page(`/rules/a/${id}`)).text.split('</figure>')[0] ?? ''
  const lately = await stripOf('1')
  expect(lately).toContain('1 firing and 0 changes, 1 time not known')
  expect(lately).toContain('class="gantt-blind"')
  expect(lately).toContain('not known: nothing was read')
  const before = await stripOf('2')
  expect(before).toContain('1 firing and 2 changes')
  expect(before).not.toContain('gantt-blind')
})

test('a rule leads to the platform if the settings say where it is, whatever its ids are', async () => {
  const platformUrl = 'https://app.example.com/f/{folder_id}/rule/{id}?account={account_id}'
  await using harness = await openConsoleHarness({ config: { platformUrl } })
  const id = '18446744073709551615'
  await insertRuleVersion(harness.ferry.pool, { id, name: 'Slow', from: at(1) })
  const [row] = await harness.query<{ folder: string; account: string }>(
    'select folder_id::text as folder, account_id::text as account from ferry.alert_rules',
  )
  const { text } = await harness.page(`/rules/a/${id}`)
  expect(text).toContain(
    `href="https://app.example.com/f/${row!.folder}/rule/${id}?account=${row!.account}" rel="noreferrer"`,
  )
  await using without = await openConsoleHarness()
  await insertRuleVersion(without.ferry.pool, { id, name: 'Slow', from: at(1) })
  expect((await without.page(`/rules/a/${id}`)).text).not.toContain('Open in the platform')
})

test('a first reading is in the list, and no mark on the bars: nobody added the rule then', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await insertRuleVersion(pool, { name: 'Read', appeared: 'first reading', from: at(1), to: at(4) })
  await insertRuleVersion(pool, { name: 'Edited', from: at(4), by: 'Ada' })
  await insertFiring(pool, { from: at(2), to: at(3) })
  const [strip = '', history = ''] = (await harness.page('/rules/a/1')).text.split('</figure>')
  expect(strip).toContain('1 firing and 1 change')
  expect(strip.match(/<svg class="gantt-mark" x=/g)).toHaveLength(1)
  expect(rowsIn(history).at(-1)).toContain('first reading')
})

test.each(RESOURCES)('a page of %s shows each field that has a label, with its value', async resource => {
  await using harness = await openConsoleHarness()
  const version = { name: 'One', from: at(1), cron: '7 * * * *', by: 'Joan', team: 77, url: 'https://one' }
  if (resource === 'alert-rules') await insertRuleVersion(harness.ferry.pool, version)
  else await insertServerVersion(harness.ferry.pool, version)
  const { text } = await harness.page(resource === 'alert-rules' ? '/rules/a/1' : '/servers/a/s')
  const labels = Object.values(DECLARATIONS[resource].fields).flatMap(({ label }) => label ?? [])
  const shown = Array.from(text.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs), ([, label]) => label)
  expect(shown.filter(label => label && labels.includes(label))).toEqual(labels)
  const values =
    resource === 'alert-rules' ? ['7 * * * *', 'Joan', 'Grace', 'prometheus'] : ['77', 'https://one']
  for (const value of values) expect(text).toMatch(new RegExp(`<dd>[^\n]*${RegExp.escape(value)}`))
})

test('a rule that is gone says since when, and shows what it was', async () => {
  await using harness = await openConsoleHarness()
  await insertRuleVersion(harness.ferry.pool, { id: '1', name: 'Old', from: at(1), to: at(2) })
  const { text } = await harness.page('/rules/a/1')
  expect(text).toContain(`It has been gone since <a class="at" href="/at/${at(2)}">`)
  expect(rowsIn(text).map(row => row.replace(/^\S+ \S+ /, ''))).toEqual(['removed run 2', 'added Ada run 1'])
})

test('a long time line goes on from page to page, nothing lost where changes and firings share an instant', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const seen: string[] = []
  for (let n = 0; n < 60; n++) {
    await insertRuleVersion(pool, {
      id: '1',
      name: `version-${n}.`,
      from: at(n),
      to: n < 59 ? at(n + 1) : undefined,
    })
    await insertFiring(pool, { id: '1', from: at(n), to: at(n + 1) })
  }
  let path: string | undefined = '/rules/a/1'
  while (path) {
    const { text } = await harness.page(path)
    seen.push(
      ...rowsIn(text.split('</figure>')[1] ?? '').map(row => `${row.split(' ')[1]} ${row.split(' ')[2]}`),
    )
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    expect(seen.length).toBeLessThanOrEqual(120)
  }
  const wanted = Array.from({ length: 60 }, (_, n) => {
    const when = at(59 - n).slice(11, 19)
    return [`${when} ${n === 59 ? 'added' : 'changed'}`, `${when} fired`]
  })
  expect(seen).toEqual(wanted.flat())
})

test('a server has its tools, and what changed in them tool by tool', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const tools = [
    { name: 'search', description: 'Finds code in one repository' },
    { name: 'search' },
    { name: 'merge' },
  ]
  await insertServerVersion(pool, {
    id: 's/1 ?',
    name: 'Repositories',
    from: at(1),
    to: at(2),
    tools,
    status: 'enabled',
  })
  const now = [
    { name: 'merge' },
    { name: 'search', description: 'Finds code in every repository' },
    { name: 'search' },
  ]
  await insertServerVersion(pool, {
    id: 's/1 ?',
    name: 'Repositories',
    from: at(2),
    to: at(3),
    tools: now,
    status: 'enabled',
  })
  await insertServerVersion(pool, {
    id: 's/1 ?',
    name: 'Repositories',
    from: at(3),
    tools: now.toReversed(),
    status: 'disabled',
    description: 'Code',
  })
  const { status, text } = await harness.page(`/servers/a/${encodeURIComponent('s/1 ?')}`)
  expect(status).toBe(200)
  const [ofTools = '', history = ''] = text.split('<h2>History</h2>')
  expect(rowsIn(ofTools)).toEqual(['search –', 'search Finds code in every repository', 'merge –'])
  expect(rowsIn(history).map(row => row.replace(/^\S+ \S+ /, ''))).toEqual([
    'changed status enabled → disabled description none → Code tools.search Finds code in every repository → (empty) tools.search (2) (empty) → Finds code in every repository run 1',
    'changed tools.search Finds code in one every repository run 1',
    'added run 1',
  ])
})

test('names of others are text, whatever they contain, and a page stays small', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  for (const [n, name] of HOSTILE.entries()) {
    const labels = Object.fromEntries(Array.from({ length: 40 }, (_, label) => [`${label}${name}`, name]))
    await insertRuleVersion(pool, {
      id: `${n}`,
      account: name,
      name,
      by: name,
      cron: name,
      timezone: name,
      labels,
      flags: [name],
      from: at(1),
    })
    const tools = Array.from({ length: 120 }, () => ({ name, description: name.repeat(10) }))
    await insertServerVersion(pool, {
      id: name,
      account: name,
      name,
      description: name,
      url: name,
      status: name,
      auth: name,
      tools,
      from: at(1),
    })
    for (const path of [
      `/rules/${encodeURIComponent(name)}/${n}`,
      `/servers/${encodeURIComponent(name)}/${encodeURIComponent(name)}`,
    ]) {
      const { status, text } = await harness.page(path)
      expect(status, path).toBe(200)
      expect(text).not.toMatch(/<script>|<img src=x|onerror=alert\(1\)>/)
      // `foreign` keeps a long text whole in its tooltip.
      expect(text.length).toBeLessThan(1_000_000)
    }
  }
})

test('what nobody ever saw is not found, and a wrong place in the list is refused', async () => {
  await using harness = await openConsoleHarness()
  await insertRuleVersion(harness.ferry.pool, { id: '1', name: 'one', from: at(1) })
  for (const path of [
    '/rules/a/2',
    '/rules/b/1',
    '/rules/a/x',
    '/rules/a/1%00',
    '/rules/a/999999999999999999999',
    '/servers/a/1',
    '/servers/a/%00',
    '/servers/%00/1',
  ]) {
    expect((await harness.page(path)).status, path).toBe(404)
  }
  const wrong = await harness.page('/rules/a/1?after=x')
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('The address is wrong: after')])
})
