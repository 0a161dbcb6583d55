import { expect, test } from 'vitest'
import { instantIn, instantOfField } from '#src/http/console/parts/instants.ts'
import { ago } from '#src/http/console/parts/values.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { hrefsOf } from './page-text.ts'

const LISTS = [
  '/ledger',
  '/ledger/calls',
  '/ledger/audit',
  '/ledger/events',
  '/changes',
  '/mcp/changes',
] as const

/** Events at half past three in Berlin, which is half past two in UTC. */
const AT = '2026-11-02T02:30:00Z'

async function addEvents({ query }: ConsoleHarness, count: number, at: string | Date = AT): Promise<void> {
  await query(
    `insert into ferry.events (kind, state, account, subject, data, at)
     select 'import.completed', 'raised', 'default', n, '{"import": "7"}', $1 from generate_series(1, $2::int) n`,
    [at, count],
  )
}

test('filters, tables and the foot of a page have the zone of the settings', async () => {
  await using harness = await openConsoleHarness({ config: { timezone: 'Europe/Berlin' } })
  await addEvents(harness, 1)
  const has = async (query: string) =>
    (await harness.page(`/ledger/events?${query}`)).text.includes('/imports/7')
  expect(await has('since=2026-11-02T03:00')).toBe(true)
  expect(await has('until=2026-11-02T03:30')).toBe(false)
  expect(await has('since=2026-11-02T03:00:00Z')).toBe(false)
  const { text } = await harness.page('/ledger/events?since=2026-11-02T02:00:00Z')
  expect(text).toContain(
    'Since (Europe/Berlin) <input type="datetime-local" name="since" value="2026-11-02T03:00">',
  )
  expect(text).toContain('<time datetime="2026-11-02T02:30:00.000Z">2026-11-02 03:30:00</time>')
  expect(text).toContain('Times in Europe/Berlin.')
  const at = async (moment: string) => (await harness.page(`/at/${moment}`)).text
  expect(await at('2026-11-02T03:30')).toContain('<h1>At <time datetime="2026-11-02T02:30:00.000Z">')
  expect(await at('2026-11-02T03:30Z')).toContain('<h1>At <time datetime="2026-11-02T03:30:00.000Z">')
})

test('every list with times offers the last hour, day and week, and refuses a mirrored span', async () => {
  await using harness = await openConsoleHarness()
  for (const path of LISTS) {
    const { status, text } = await harness.page(`${path}?since=24h&after=`)
    expect(status).toBe(200)
    const periods = [...text.matchAll(/since=(\w+)"( aria-current="true")?/g)].map(([, age, here]) => [
      age,
      !!here,
    ])
    expect(periods, path).toEqual([
      ['1h', false],
      ['24h', true],
      ['7d', false],
    ])
    const mirrored = await harness.page(`${path}?since=2026-01-02&until=2026-01-01`)
    expect(mirrored.status).toBe(400)
    expect(mirrored.text).toContain('The address is wrong: since: it is later than until. Swap the two.')
  }
})

test('a period takes the place of the span and the page in the address, and keeps the other filters', async () => {
  await using harness = await openConsoleHarness()
  await addEvents(harness, 60)
  const span = 'since=2026-01-01&until=2999-01-01'
  const first = await harness.page(`/ledger/events?account=default&${span}`)
  const [next = ''] = hrefsOf(first.text, '/ledger/events').filter(href => href.includes('after='))
  expect(next).toContain('until=')
  const { text } = await harness.page(next)
  const [, periods = ''] = text.split('aria-label="Period"')
  expect(hrefsOf(periods.split('</nav>')[0]!, '/')).toEqual(
    ['1h', '24h', '7d'].map(age => `/ledger/events?account=default&since=${age}`),
  )
})

test('an age in an address is counted from now, and a form holds its instant', () => {
  const at = instantIn('UTC').parse('24h')
  expect(Math.abs(Date.now() - 86_400_000 - at.getTime())).toBeLessThan(60_000)
  expect(instantOfField('24h', 'UTC')).toBe(at.toISOString().slice(0, 16))
  for (const wrong of ['24', '99999999999999d', '-1h', '1w'])
    expect(instantIn('UTC').safeParse(wrong).success).toBe(false)
})

test('a time of this week is an age with its instant beside it; any other is the instant', () => {
  const shown = (ms: number) =>
    `${ago(new Date(Date.now() - ms), 'Europe/Berlin')}`.replaceAll(/<[^>]+>/g, '')
  expect(shown(200)).toBe('1 s ago')
  expect(shown(59_500)).toBe('59 s ago')
  expect(shown(60_500)).toBe('1 min ago')
  expect(shown(3 * 3_600_000 + 12 * 60_000 + 59_000)).toBe('3 h 12 min ago')
  expect(shown(2 * 86_400_000 + 3_600_500)).toBe('2 d 1 h ago')
  expect(shown(8 * 86_400_000)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  expect(shown(-60_000)).toMatch(/^\d{4}-/)
  const at = new Date(Date.now() - 1_000)
  const [, iso, title] =
    /datetime="([^"]+)" title="([^"]+)" data-ago/.exec(`${ago(at, 'Europe/Berlin')}`) ?? []
  expect(iso).toBe(at.toISOString())
  expect(title).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d Europe\/Berlin$/)
})
