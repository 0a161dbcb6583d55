import { expect, test } from 'vitest'
import { addSnapshot } from '#test/support/snapshots.ts'
import { openConsoleHarness } from './console-harness.ts'
import { rowsIn } from './markup.ts'

const at = (day: number) => new Date(Date.UTC(2026, 0, day, 3, 30)).toISOString()

test('names each night with its runs and how complete it is, and leads to what changed since the night before', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const first = await addSnapshot(pool, 'a', at(1), { slot: at(1), status: 'succeeded', runs: [11, 12] })
  const ofB = await addSnapshot(pool, 'b', at(2), { slot: at(2), status: 'held', runs: [21, 22] })
  const last = await addSnapshot(pool, 'a', at(3), { status: 'partial', runs: [31, 32] })
  const { status, text } = await harness.page('/ledger/snapshots')
  expect(status).toBe(200)
  expect(rowsIn(text)).toEqual([
    `${last} a partial 2026-01-03 03:30:00 alert rules , MCP servers since snapshot ${first}`,
    `${ofB} 2026-01-02 b held 2026-01-02 03:30:00 alert rules , MCP servers no earlier snapshot`,
    `${first} 2026-01-01 a succeeded 2026-01-01 03:30:00 alert rules , MCP servers no earlier snapshot`,
  ])
  expect(text).toContain(`href="/changes/compare?from=${first}&amp;to=${last}"`)
  expect(text).toContain('href="/ledger/runs/31"')
  expect(text).toContain('href="/ledger/runs/32"')
  const held = await harness.page('/ledger/snapshots?status=held')
  expect(rowsIn(held.text)).toHaveLength(1)
  const ofA = await harness.page('/ledger/snapshots?account=a&status=succeeded')
  expect(rowsIn(ofA.text)).toEqual([expect.stringMatching(`^${first} `)])
})

test('has older nights on the next page', async () => {
  await using harness = await openConsoleHarness()
  const ids: string[] = []
  for (let night = 1; night <= 53; night++)
    ids.unshift(`${await addSnapshot(harness.ferry.pool, 'a', at(night))}`)
  const { text } = await harness.page('/ledger/snapshots?account=a')
  const next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const rest = await harness.page(next)
  expect([...rowsIn(text), ...rowsIn(rest.text)].map(row => row.split(' ')[0])).toEqual(ids)
  expect(rest.text).toContain('End of the list.')
})

test('says which nights of the last days have no snapshot', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000)
  for (const days of [4, 3, 1, 0]) {
    await addSnapshot(pool, 'a', ago(days).toISOString(), { slot: ago(days).toISOString() })
  }
  const { text } = await harness.page('/ledger/snapshots')
  expect(text).toContain(`without a snapshot: ${ago(2).toISOString().slice(0, 10)} (<bdi>a</bdi>).`)
})

test('of many such nights the first ten are named', async () => {
  await using harness = await openConsoleHarness()
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  for (const days of [20, 0]) await addSnapshot(harness.ferry.pool, 'a', ago(days), { slot: ago(days) })
  const { text } = await harness.page('/ledger/snapshots')
  const [, nights = ''] = /without a snapshot: (.*?)<\/p>/.exec(text) ?? []
  expect(nights.match(/<bdi>a<\/bdi>/g)).toHaveLength(10)
  expect(nights).toContain(') and others.')
})

test('without any it names the next step, and a wrong address is refused', async () => {
  await using harness = await openConsoleHarness()
  for (const query of ['', '?account=&status=']) {
    expect((await harness.page(`/ledger/snapshots${query}`)).text).toContain('ferry snapshots take')
  }
  expect((await harness.page('/ledger/snapshots?account=b')).text).toContain('No snapshot matches.')
  for (const [query, name] of [
    ['status=good', 'status'],
    ['after=x', 'after'],
  ]) {
    const { status, text } = await harness.page(`/ledger/snapshots?${query}`)
    expect([query, status]).toEqual([query, 400])
    expect(text).toContain(`The address is wrong: ${name}`)
  }
})
