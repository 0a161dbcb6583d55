import { expect, test } from 'vitest'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'

const LISTS = [
  '/ledger',
  '/ledger/calls',
  '/ledger/audit',
  '/ledger/events',
  '/changes',
  '/mcp/changes',
] as const

/** Events at half past three in Berlin, which is half past two in UTC. */
const AT = '2026-11-20T02:30:00Z'

async function addEvents({ query }: ConsoleHarness, count: number): Promise<void> {
  await query(
    `insert into ferry.events (kind, state, account, subject, data, at)
     select 'import.completed', 'raised', 'default', n, '{"import": "7"}', $1 from generate_series(1, $2::int) n`,
    [AT, count],
  )
}

test('a filter is read in the zone that its form names, and otherwise in that of the settings', async () => {
  await using harness = await openConsoleHarness()
  await addEvents(harness, 1)
  const has = async (query: string) =>
    (await harness.page(`/ledger/events?${query}`)).text.includes('/imports/7')
  expect(await has('since=2026-11-20T03:00')).toBe(false)
  expect(await has('since=2026-11-20T03:00&zone=')).toBe(false)
  expect(await has('since=2026-11-20T03:00&zone=Europe/Berlin')).toBe(true)
  expect(await has('until=2026-11-20T03:00&zone=europe/berlin')).toBe(false)
  expect(await has('since=2026-11-20T02:00:00Z&zone=Asia/Tokyo')).toBe(true)
  const { text } = await harness.page('/ledger/events?since=2026-11-20T02:00:00Z&zone=europe/berlin')
  expect(text).toContain('Since (<span data-zone>Europe/Berlin</span>)')
  expect(text).toContain('name="since" value="2026-11-20T03:00" data-at="2026-11-20T02:00:00.000Z"')
  expect(text).toContain('<input type="hidden" name="zone" value="europe/berlin">')
})

test('every list with times names the zone once, and refuses a wrong zone and a mirrored span', async () => {
  await using harness = await openConsoleHarness()
  for (const path of [...LISTS, '/changes/compare']) {
    const { status, text } = await harness.page(path)
    expect(status).toBe(200)
    expect(text).toMatch(/(Since|From) \(<span data-zone>UTC<\/span>\)/)
    expect(text.match(/<input type="hidden" name="zone" value="">/g)).toHaveLength(1)
  }
  for (const path of LISTS) {
    const wrong = await harness.page(`${path}?zone=Mars/Olympus`)
    expect(wrong.status).toBe(400)
    expect(wrong.text).toContain('The address is wrong: zone: write a time zone such as Europe/Berlin.')
    const mirrored = await harness.page(`${path}?since=2026-01-02&until=2026-01-01`)
    expect(mirrored.status).toBe(400)
    expect(mirrored.text).toContain('The address is wrong: since: it is later than until. Swap the two.')
  }
  expect((await harness.page('/firing')).text).not.toContain('name="zone"')
})

test('the next page keeps the zone', async () => {
  await using harness = await openConsoleHarness()
  await addEvents(harness, 60)
  const { text } = await harness.page('/ledger/events?since=2026-11-20T03:00&zone=Europe/Berlin')
  const next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect(next).toContain('zone=Europe%2FBerlin')
  expect((await harness.page(next)).text.match(/href="\/imports\/7"/g)).toHaveLength(10)
})

test('without script, times are in the zone of the settings', async () => {
  await using harness = await openConsoleHarness({ config: { timezone: 'Europe/Berlin' } })
  await addEvents(harness, 1)
  const { text } = await harness.page('/ledger/events')
  expect(text).toContain('<time datetime="2026-11-20T02:30:00.000Z">2026-11-20 03:30:00</time>')
  expect(text).toContain('Times in <span data-zone>Europe/Berlin</span>')
})
