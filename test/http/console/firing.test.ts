import { describe, expect, test } from 'vitest'
import { MARKS } from '#src/http/console/charts/gantt.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { DAY, HOUR, minutesAgo } from '#test/reports/ask.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun } from '#test/support/runs.ts'
import { insertFiring, insertRuleVersion, type RuleVersion } from '#test/support/versions.ts'
import { cellsOf } from './cells.ts'
import { BOTH_TOKENS, type ConsoleHarness, openConsoleHarness, READ_TOKEN } from './console-harness.ts'

const PAGES = [
  '/firing',
  '/firing/noisy',
  '/firing/when',
  '/firing/silenced',
  '/firing/never',
  '/firing/load',
]

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '\u202egnp.exe',
  'x'.repeat(3_000),
  '👩‍🚒',
  ' ',
]

const HOSTILE_ACCOUNT = '\u202egnp"><img src=x onerror=alert(1)><script>alert(1)</script>/../%00 👩‍🚒'

/** The text of a page, without tags and tooltips. */
const textOf = (page: string) =>
  page
    .replace(/<title[^>]*>.*?<\/title>/gs, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

type Rule = Omit<RuleVersion, 'from' | 'to'>

/** A rule that somebody disabled while it fired, and which fires again. */
async function addRule({ ferry }: ConsoleHarness, rule: Rule): Promise<void> {
  const { id = '1', account = 'default' } = rule
  await insertRuleVersion(ferry.pool, {
    ...rule,
    account,
    from: minutesAgo(60 * DAY),
    to: minutesAgo(3 * HOUR),
  })
  await insertRuleVersion(ferry.pool, {
    ...rule,
    account,
    enabled: false,
    from: minutesAgo(3 * HOUR),
    to: minutesAgo(2 * HOUR),
  })
  await insertRuleVersion(ferry.pool, { ...rule, account, from: minutesAgo(2 * HOUR) })
  await insertFiring(ferry.pool, { account, id, from: minutesAgo(4 * HOUR), to: minutesAgo(3 * HOUR) })
  await insertFiring(ferry.pool, { account, id, from: minutesAgo(HOUR) })
}

test('the page shows when a rule fired, who changed it meanwhile, and how long it has been firing', async () => {
  await using harness = await openConsoleHarness()
  await addRule(harness, { name: 'Checkout is slow', by: 'Ada', labels: { team: 'pay' } })
  const { status, text } = await harness.page('/firing')
  expect(status).toBe(200)
  expect(text).toContain('<a href="/rules/default/1"><bdi>Checkout is slow</bdi></a>')
  expect(text).toMatch(
    /<title id="episodes-0">2 episodes, 2 h( \d s)? in total, firing now, 2 changes\.<\/title>/,
  )
  expect(text).toMatch(/<title>\u2068disabled by Ada\u2069, \d{4}-/)
  expect(text).toMatch(/<title>\u2068enabled by Ada\u2069, \d{4}-/)
  expect(text).toContain(`href="/at/${minutesAgo(3 * HOUR).toISOString()}"`)
  expect(textOf(text)).toMatch(/1 rule fired, in 2 episodes\. 1 firing now/)
  expect(textOf(text)).toMatch(/Firing longest now .* Checkout is slow .* 1 h/)
  expect(text).toContain('data-refresh="60000"')
})

test('times of which nothing is known cover the bars of their account, and no others', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  for (const account of ['read', 'unread']) await addRule(harness, { account, name: account })
  await addRun(pool, { account: 'unread' })
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, account: 'read', targetMs: 100 * 86_400_000 }])
  await addRun(pool, { account: 'read' })
  await pool.query(
    `update ferry.sync_runs set started_at = started_at - interval '50 days', finished_at = finished_at - interval '50 days',
       applied_at = applied_at - interval '50 days' where account = 'read'`,
  )
  const { text } = await harness.page('/firing')
  const [, ...rows] = text.split('<li><div class="gantt-label">')
  const blind = Object.fromEntries(
    rows.map(row => [/<bdi>(\w+)<\/bdi>/.exec(row)?.[1], row.includes('gantt-blind" d="M0 0h')]),
  )
  expect(blind).toEqual({ read: false, unread: true })
  const since = async (account: string) =>
    (await harness.page(`/firing/when?account=${account}`)).text.includes('Nothing was read before')
  expect([await since('read'), await since('unread')]).toEqual([false, true])
  expect(text).toContain('not known: nothing was read</li>')
})

/** What the marks on the bars of the page stand for, in their order. */
async function marksOn(harness: ConsoleHarness): Promise<unknown[]> {
  const { text } = await harness.page('/firing')
  const shapes = text.matchAll(/class="gantt-mark" x="[^"]*" y="11"><path d="([^"]*)"/g)
  return [...shapes].map(([, shape]) => Object.values(MARKS).find(mark => mark.shape === shape)?.words)
}

test('an edit, a rule that was disabled and one that was added have marks of different shapes', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const rule = { account: 'default', name: 'Checkout is slow' }
  await insertRuleVersion(pool, { ...rule, from: minutesAgo(4 * HOUR), to: minutesAgo(3 * HOUR) })
  await insertRuleVersion(pool, {
    ...rule,
    cron: '1 * * * *',
    from: minutesAgo(3 * HOUR),
    to: minutesAgo(2 * HOUR),
  })
  await insertRuleVersion(pool, { ...rule, cron: '1 * * * *', enabled: false, from: minutesAgo(2 * HOUR) })
  await insertFiring(pool, { account: 'default', from: minutesAgo(4 * HOUR), to: minutesAgo(2 * HOUR) })
  expect(await marksOn(harness)).toEqual(['added, returned or enabled', 'edited', 'disabled or removed'])
})

test('a rule that a first reading found was added by nobody then: it has no mark, and counts as no change', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const rule = { account: 'default', name: 'Checkout is slow' }
  const [read, edited] = [minutesAgo(4 * HOUR), minutesAgo(2 * HOUR)]
  await insertRuleVersion(pool, { ...rule, appeared: 'first reading', from: read, to: edited })
  await insertRuleVersion(pool, { ...rule, cron: '1 * * * *', from: edited })
  await insertFiring(pool, { account: 'default', from: read, to: minutesAgo(HOUR) })
  expect(await marksOn(harness)).toEqual(['edited'])
  expect((await harness.page('/firing')).text).toContain('1 episode, 3 h in total, 1 change.')
})

test('the other pages show noise, weekdays and hours, what was silenced, and the load', async () => {
  await using harness = await openConsoleHarness()
  await addRule(harness, {
    name: 'Checkout is slow',
    by: 'Ada',
    cron: '*/15 * * * *',
    labels: { team: 'pay' },
  })
  const noisy = textOf((await harness.page('/firing/noisy')).text)
  expect(noisy).toMatch(/Checkout is slow alert rule 1 in default pay 2 0 \d+ % 2 h/)
  const when = (await harness.page('/firing/when')).text
  expect(when).toContain('When the episodes of the last 4 weeks began')
  expect(when).toContain('Each cell is an hour in UTC')
  const silenced = textOf((await harness.page('/firing/silenced')).text)
  expect(silenced).toMatch(
    /disabled Checkout is slow alert rule 1 in default Ada began [-\d: ]+ had been firing for 1 h/,
  )
  const load = textOf((await harness.page('/firing/load')).text)
  expect(load).toMatch(
    /enabled rules of default cause 1 evaluation in the busiest minute .* and 0\.1 per minute/,
  )
  expect(load).toContain('Busiest minute of each hour')
})

describe('without episodes', () => {
  test.each([
    ['/firing', 'No rule was seen firing in the last 24 hours.', 'No rule is firing.'],
    ['/firing/noisy?hours=6', 'No rule was seen firing in the last 6 hours.', ''],
    ['/firing/when', 'No episode was seen to begin in the last 4 weeks.', ''],
    ['/firing/never', 'There is no enabled rule that never fired.', ''],
    ['/firing/silenced', 'No rule was disabled, removed or edited while it fired', ''],
    [
      '/firing/load',
      'Account default has no enabled rule whose schedule can be read.',
      'ferry sync alert-rules',
    ],
  ])('%s says so', async (path, ...sentences) => {
    await using harness = await openConsoleHarness()
    const { status, text } = await harness.page(path)
    expect(status).toBe(200)
    for (const sentence of sentences) expect(textOf(text)).toContain(sentence)
    expect(text).not.toMatch(/<figure|NaN/)
  })
})

test.each([
  ['/firing', '1 hour, 6 hours, [24 hours], 3 days, 7 days, 30 days'],
  ['/firing/noisy', '1 hour, 6 hours, 24 hours, 3 days, [7 days]'],
  ['/firing/when', '7 days, [4 weeks]'],
  ['/firing/silenced', '1 hour, 6 hours, 24 hours, 3 days, [7 days], 30 days'],
])('%s offers periods, and shows one of them if none was chosen', async (path, periods) => {
  await using harness = await openConsoleHarness()
  const { text } = await harness.page(path)
  const [nav = ''] = /<nav aria-label="Period">.*?<\/nav>/s.exec(text) ?? []
  const links = [...nav.matchAll(/<a href="[^"]*"( aria-current="true")?>(.*?)<\/a>/g)]
  expect(links.map(([, isShown, words]) => (isShown ? `[${words}]` : words)).join(', ')).toBe(periods)
})

test('the account and the period stay chosen from page to page, where a page has that period', async () => {
  await using harness = await openConsoleHarness()
  await addRule(harness, { name: 'elsewhere', account: 'b c' })
  const { text } = await harness.page('/firing?hours=168&account=b+c')
  expect(text).toContain('href="/firing/noisy?hours=168&amp;account=b+c"')
  expect(text).toContain('href="/firing/load?account=b+c"')
  expect(text).toContain('href="/firing?hours=6&amp;account=b+c"')
  expect(text).toContain('<option value="b c" selected>')
  expect(text).toContain('<option value="168" selected>')
  expect(text).toContain('href="/rules/b%20c/1"')
  expect((await harness.page('/firing?hours=720')).text).not.toContain('/firing/noisy?hours=720')
  expect(textOf((await harness.page('/firing?account=default')).text)).toContain('No rule was seen firing')
})

test.each([
  ['/firing?hours=12', 'hours'],
  ['/firing?hours=1e9', 'hours'],
  ['/firing/noisy?hours=720', 'hours'],
  ['/firing/silenced?after=x', 'after'],
  [
    `/firing/silenced?after=${Buffer.from('["2026-11-20 03:30:00+00","a","b"]').toString('base64url')}`,
    'after',
  ],
  ['/firing/load?account=%00', 'account'],
])('%s is refused, and the parameter is named', async (path, parameter) => {
  await using harness = await openConsoleHarness()
  const { status, text } = await harness.page(path)
  expect(status).toBe(400)
  expect(text).toContain(`The address is wrong: ${parameter}:`)
})

test('hostile names of rules, teams, people and accounts are text, whatever page shows them', async () => {
  await using harness = await openConsoleHarness()
  for (const [n, name] of HOSTILE.entries()) {
    const rule = { id: `${n + 1}`, name, by: name, labels: { team: name } }
    await addRule(harness, rule)
    await addRule(harness, { ...rule, account: HOSTILE_ACCOUNT })
  }
  for (const path of PAGES) {
    for (const account of [null, HOSTILE_ACCOUNT]) {
      const { status, text } = await harness.page(
        `${path}?${new URLSearchParams(account ? { account } : {})}`,
      )
      expect(status).toBe(200)
      expect(text).not.toContain('<script>alert')
      expect(text).not.toContain('<img src=x')
      // A name that turns the text stands in an element or between marks that isolate it.
      for (const before of text.split('\u202egnp').slice(0, -1)) {
        expect(before.slice(-40)).toMatch(
          /(<bdi>|\u2068)((disabled|enabled) by )?$|(title|value)="$|selected>$|">$/,
        )
      }
    }
  }
})

test('rules that never fired are shown with how long they were observed, by account and folder', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const rule = { id: '1', name: 'silent', from: minutesAgo(3 * DAY), by: 'Ada' }
  await insertRuleVersion(pool, { ...rule, labels: { team: 'pay' }, folder: 7 })
  await insertRuleVersion(pool, { ...rule, account: 'b', name: 'elsewhere' })
  await insertRuleVersion(pool, { ...rule, id: '2', name: 'off', enabled: false })
  await insertRuleVersion(pool, { ...rule, id: '3', name: 'fired' })
  await insertFiring(pool, { id: '3', from: minutesAgo(DAY), to: minutesAgo(HOUR) })
  const rowsOf = async (query: string) =>
    cellsOf((await harness.page(`/firing/never${query}`)).text, 'Rules that never fired, by id')
  const silent = ['silentalert rule 1 in a', '7', 'pay', '3 d ago', '3 d', 'Ada']
  expect(await rowsOf('')).toEqual([
    silent,
    ['elsewherealert rule 1 in b', '1', '–', '3 d ago', '3 d', 'Ada'],
  ])
  expect(await rowsOf('?folder=7')).toEqual([silent])
  expect(await rowsOf('?account=a')).toEqual([silent])
  const csv = (await harness.page('/firing/never.csv?folder=7')).text.split('\r\n')
  expect(csv[0]).toBe('rule,id,account,folder,team,first seen,observed for,last edited by')
  expect(csv[1]).toMatch(/^silent,1,a,7,pay,\d{4}-[^,]*Z,259\d{3}\.\d+,Ada$/)
})

test('what was silenced is shown fifty at a time', async () => {
  await using harness = await openConsoleHarness()
  for (let n = 1; n <= 51; n++) await addRule(harness, { id: `${n}`, name: `rule number ${n}.` })
  const first = (await harness.page('/firing/silenced')).text
  const next = /<a rel="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&')
  expect(first).toContain('rule number 1.')
  const second = (await harness.page(next ?? '')).text
  // Each was disabled, and enabled an hour after its episode had ended.
  expect(first.match(/<td data-head="Rule">/g)).toHaveLength(50)
  expect(second.match(/<td data-head="Rule">/g)).toHaveLength(50)
  expect(second).toContain('First page')
})

test('the read token sees all of these pages: they hold no personal data', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  await addRule(harness, { name: 'Checkout is slow' })
  for (const path of PAGES) expect((await harness.page(path, READ_TOKEN)).status).toBe(200)
})
