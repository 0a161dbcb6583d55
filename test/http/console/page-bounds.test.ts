import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { addSnapshot } from '#test/support/snapshots.ts'
import { stageRows } from '#test/support/staged.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { cellsOf } from './cells.ts'
import { openConsoleHarness } from './console-harness.ts'
import { hrefsOf } from './page-text.ts'
import { textOf } from './whole-text.ts'

/* How much a page shows of one thing, and what it says of the rest. */

const HOUR_MS = 3_600_000
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString()

test.for([
  [7 * 24 - 1, 1],
  [7 * 24 + 1, 0],
] as const)(
  'of a rule that stopped firing %i hours ago the last week is drawn, if it fired in it',
  async ([ended, weeks]) => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    await insertRuleVersion(pool, { id: '1', name: 'Slow', from: hoursAgo(40 * 24) })
    await insertFiring(pool, { id: '1', from: hoursAgo(9 * 24), to: hoursAgo(ended) })
    const { text } = await harness.page('/rules/a/1')
    // What began before the week is cut at its begin; of all that is on the page, the first version is the first event.
    expect(/<path class="gantt-bar" d="M(\d+)/.exec(text)?.[1] === '0').toBe(weeks === 1)
    expect(text).toContain(weeks === 1 ? '1 firing and 0 changes' : '1 firing and 1 change')
  },
)

test.for([
  [100, ''],
  [101, 'and 1 more: ferry servers show shows all.'],
] as const)('of %i tools of a server a hundred are shown', async ([count, more]) => {
  await using harness = await openConsoleHarness()
  const tools = Array.from({ length: count }, (_, n) => ({ name: `t${n}`, description: 'x'.repeat(401) }))
  await insertServerVersion(harness.ferry.pool, { id: 's', name: 'S', from: hoursAgo(1), tools })
  const { text } = await harness.page('/servers/a/s')
  const rows = cellsOf(text, `Recorded tools: ${count}`)
  expect(rows).toHaveLength(100)
  expect(rows[0]).toEqual(['t0', `${'x'.repeat(200)} … 1 character … ${'x'.repeat(200)}`])
  expect(
    textOf(text)
      .split('\n')
      .find(line => line.startsWith('and ')) ?? '',
  ).toBe(more)
})

test.for([
  [80, false],
  [81, true],
] as const)(
  'of %i decisions around a moment it is said whether there are more: %s',
  async ([count, isCut]) => {
    await using harness = await openConsoleHarness()
    await harness.query(
      `insert into ferry.audit (at, account, actor, action, subject_kind, subject_id)
     select now() - interval '2 hours', 'a', 'anna', 'pause', 'import', n::text from generate_series(1, $1::int) n`,
      [count],
    )
    const page = textOf((await harness.page(`/at/${hoursAgo(2)}`)).text)
    expect(page.match(/quiet:decision pause import \d+ in a/g)?.length).toBe(80)
    expect(
      page.includes(
        '(notice) There is more: not all rows are shown. A shorter time, a folder, a team or words show the others.',
      ),
    ).toBe(isCut)
  },
)

test.for([
  [20, ''],
  [21, '(notice warn) Nor of 1 other inventory.'],
  [22, '(notice warn) Nor of 2 other inventories.'],
] as const)('of %i inventories of which nothing is known twenty are named', async ([count, rest]) => {
  await using harness = await openConsoleHarness()
  await harness.query(
    `insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders)
     select 'a' || n, 'alert-rules', '5 min', 'poll', 'UTC', '["0"]' from generate_series(1, $1::int) n`,
    [count],
  )
  await harness.query(
    `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at, applied_at, finished_at)
     select 'a' || n, 'alert-rules', 'manual', '{"folders":["0"]}', '10,20%', 1, 'succeeded', t, t, t
     from generate_series(1, $1::int) n, (select now() - interval '9 hours' as t) t`,
    [count],
  )
  const page = textOf((await harness.page(`/at/${hoursAgo(2)}`)).text)
  expect(page.match(/Nothing is known of this moment/g)).toHaveLength(20)
  expect(page.split('\n').find(line => line.includes('Nor of ')) ?? '').toBe(rest)
})

test('the last night is offered of ten accounts', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  for (let n = 1; n <= 11; n++)
    for (const day of [1, 2]) {
      const slot = `2026-01-0${day}T03:30:00Z`
      await addSnapshot(pool, `account-${n}`, slot, { slot })
    }
  const { text } = await harness.page('/changes/compare')
  expect(hrefsOf(text, '/changes/compare?from=')).toHaveLength(10)
  expect(textOf(text)).toContain('Compare nights [/ledger/snapshots] Older nights')
  expect(text).toContain('aria-label="Compare two nights"')
  expect(text).toContain('aria-label="Compare two moments"')
})

test('a comparison of servers has their teams, and of rules their folders and who edited them; both begin at a first page', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  for (let n = 1; n <= 51; n++) {
    await insertRuleVersion(pool, { id: `${n}`, name: `r${n}`, from: hoursAgo(2) })
    await insertServerVersion(pool, { id: `${n}`, name: `s${n}`, from: hoursAgo(2) })
  }
  const of = async (query: string) => (await harness.page(`/changes/compare?from=3h&to=1h&${query}`)).text
  const headsOf = (text: string) => [...text.matchAll(/<th scope="col">(.*?)<\/th>/g)].map(([, head]) => head)
  expect(headsOf(await of(''))).toEqual(['Change', 'About', 'Folder', 'Old to new', 'Last edited by'])
  const servers = await of('resource=mcp-servers')
  expect(headsOf(servers)).toEqual(['Change', 'About', 'Team', 'Old to new'])
  const next = /rel="next" href="([^"]+)"/.exec(servers)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect(next).toContain('/changes/compare?from=3h&to=1h&resource=mcp-servers&after=')
  const second = (await harness.page(next)).text
  expect(hrefsOf(second, '/changes/compare?')).toEqual([
    '/changes/compare?from=3h&to=1h&resource=alert-rules',
    '/changes/compare?from=3h&to=1h&resource=mcp-servers',
    '/changes/compare?from=3h&to=1h&resource=mcp-servers',
    ...['added', 'changed', 'removed', 'first+reading'].map(
      kind => `/changes/compare?from=3h&to=1h&resource=mcp-servers&kind=${kind}`,
    ),
    '/changes/compare?from=3h&to=1h&resource=mcp-servers',
  ])
})

test('the load of an account is said in numbers, drawn, and that of another can be chosen', async () => {
  const { accounts } = readConfig({ FERRY_BASE_URL: 'https://platform.example', FERRY_APP_KEY: 'key' })
  const two = ['east', 'west'].flatMap(name => accounts.map(account => ({ ...account, name })))
  await using harness = await openConsoleHarness({ config: { accounts: two, timezone: 'Asia/Kolkata' } })
  const { pool } = harness.ferry
  const rule = { account: 'east', from: hoursAgo(2), timezone: 'UTC' }
  for (const [id, cron] of ['*/15 * * * *', '*/15 * * * *', '7 9 * * 1'].entries())
    await insertRuleVersion(pool, { ...rule, id: `${id}`, name: `r${id}`, cron })
  const { text } = await harness.page('/firing/load')
  const page = textOf(text.replaceAll(/<tbody>.*?<\/tbody>/gs, ''))
  expect(page.slice(page.indexOf('Account'))).toBe(`Account * east
west
Filter By their cron_pattern and timezone , the enabled rules of east cause 2 evaluations in the busiest minute of this week, and 0.1 per minute on average.
Rules with */15 * * * * are all evaluated in the same minutes. With 7-59/15 * * * * , a rule is evaluated as often, in other minutes.
Load by minute of the hour (evaluations in a minute) :00 :05 :10 :15 :20 :25 :30 :35 :40 :45 :50 :55
Minutes in UTC. Each bar is the highest of any hour of this week.
The same numbers as a table Load by minute of the hour Minute of the hour evaluations in a minute
Busiest minute of each hour (evaluations in a minute)
2
Hours of this week in Asia/Kolkata: 8 is from 08:00 to 09:00. The week begins on Monday at 00:00 UTC.
The same numbers as a table Busiest minute of each hour Weekday ${Array.from({ length: 24 }, (_, n) => n).join(' ')}
Busiest minutes of this week Minute Evaluations`)
  const bars = cellsOf(text, 'Load by minute of the hour')
  expect(bars.filter(([, load]) => load !== '0')).toEqual([
    ...[
      [':00', '2'],
      [':07', '1'],
      [':15', '2'],
      [':30', '2'],
      [':45', '2'],
    ],
  ])
  expect(cellsOf(text, 'Busiest minutes of this week')).toHaveLength(10)
  // Counts have no tick between two of them.
  expect([...text.matchAll(/<text x="42" [^>]*>([\d.]+)<\/text>/g)].map(([, tick]) => tick)).toEqual([
    '0',
    '1',
    '2',
  ])
  const west = textOf((await harness.page('/firing/load?account=west')).text)
  expect(west).toContain(
    'Account east\n* west\nFilter [/firing/load] Show all Load by minute\nAccount west has no enabled rule',
  )
  const other = textOf((await harness.page('/firing/load?account=other')).text)
  expect(other).toContain('Account east\nwest\n* other\n')
})

test('the file of a list is called as the list is', async () => {
  await using harness = await openConsoleHarness()
  for (const [path, file] of [
    ['/rules', 'rules.csv'],
    ['/ledger/calls', 'ledger-calls.csv'],
    ['/changes/editors', 'changes-editors.csv'],
  ]) {
    const { headers } = await harness.page(`${path}.csv`)
    expect(headers['content-disposition']).toBe(`attachment; filename="${file}"`)
  }
})

test('of many reasons why rows are not sent it is said that the first ones are counted, of rejected and of other rows', async () => {
  await using harness = await openConsoleHarness()
  const note = 'Counted over the first 10,000 rejected rows, and as many rows that were left out.'
  const id = await stageRows(harness.ferry.pool, { rows: 1 })
  await harness.query(
    `insert into ferry.import_left_out (import_id, line, kind, reason, recipient) values (${id}, 3, 'duplicate', 'duplicate', 'x@example.com')`,
  )
  const textWith = async (counts: string) => {
    await harness.query(
      `update ferry.imports set read = 20001, rejected = 0, duplicate = 0, suppressed = 0, already_imported = 0 where id = ${id}`,
    )
    await harness.query(`update ferry.imports set ${counts} where id = ${id}`)
    return textOf((await harness.page(`/imports/${id}`)).text)
  }
  expect(await textWith('rejected = 10001')).toContain(note)
  expect(await textWith('duplicate = 10001')).toContain(note)
  expect(await textWith('duplicate = 4000, suppressed = 3000, already_imported = 3001')).toContain(note)
  const few = await textWith('rejected = 10000, duplicate = 4000, suppressed = 3000, already_imported = 3000')
  expect(few).not.toContain(note)
  expect(few).toContain(`ferry imports rejects ${id} --out rejects.csv writes the rejected rows to a file.`)
  const purged = await textWith('rejected = 1, purged_at = now()')
  expect(purged).toContain(
    '(notice) Its recipients were purged at [/at/THEN] THEN . Counts, times and request ids are kept.',
  )
  expect(purged).not.toContain('rejects.csv')
})

test.for([
  [20, 'Longest first', ''],
  [30, '20 of 30 firing now', ''],
  [31, '20 of 31 firing now', ' The chart shows the 30 that fired longest and leaves out 1 other.'],
] as const)(
  'of %i rules that fired thirty are drawn, and the twenty that fire longest are listed',
  async ([count, caption, rest]) => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    for (let n = 1; n <= count; n++) {
      await insertRuleVersion(pool, { id: `${n}`, name: `r${n}`, from: hoursAgo(9) })
      await insertFiring(pool, { id: `${n}`, from: hoursAgo(2 + n / 100) })
    }
    const { text } = await harness.page('/firing')
    expect(cellsOf(text, caption).map(([name]) => name)).toEqual(
      Array.from({ length: 20 }, (_, n) => `r${count - n}alert rule ${count - n} in a`),
    )
    expect(text.match(/class="gantt-label"/g)).toHaveLength(Math.min(count, 30))
    expect(textOf(text)).toContain(
      `${count} rules fired, in ${count} episodes. [#longest] ${count} firing now .${rest}\n`,
    )
  },
)

test('of the changes of a rule that fired the last three are listed, and its page has the earlier ones', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const at = [0, 1, 2, 3, 4, 5].map(hoursAgo)
  for (const n of [5, 4, 3, 2, 1]) {
    const version = { id: '1', name: 'Slow', cron: `${n} * * * *`, by: `Ada ${n}` }
    await insertRuleVersion(pool, { ...version, from: at[n] ?? '', to: n > 1 ? at[n - 1] : undefined })
  }
  await insertFiring(pool, { id: '1', from: hoursAgo(6), to: hoursAgo(0.5) })
  const { text } = await harness.page('/firing')
  const [[, , , , state, changed] = []] = cellsOf(text, 'Rules that fired longest')
  expect(state).toBe('not firing')
  expect(changed?.match(/edited by Ada \d/g)).toEqual([
    'edited by Ada 3',
    'edited by Ada 2',
    'edited by Ada 1',
  ])
  expect(text).toContain('<a href="/rules/a/1">2 earlier</a>')
  expect(textOf(text)).toContain('1 rule fired, in 1 episode. None is firing now.')
})
