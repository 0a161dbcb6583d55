import { expect, test } from 'vitest'
import { addSnapshot } from '#test/support/snapshots.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { textOf } from './cells.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { HOSTILE, rowsIn } from './markup.ts'
import { hrefsOf } from './page-text.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

async function addHistory({ ferry: { pool } }: ConsoleHarness): Promise<void> {
  await insertRuleVersion(pool, { id: '1', name: 'Checkout is slow', from: at(1), to: at(3), by: 'Joan' })
  await insertRuleVersion(pool, { id: '1', name: 'Checkout is very slow', from: at(3), folder: 7, by: 'Ada' })
  await insertRuleVersion(pool, { id: '2', name: 'Gone', from: at(1), to: at(3) })
  await insertRuleVersion(pool, { account: 'b', id: '3', name: 'New elsewhere', from: at(3) })
  await insertServerVersion(pool, { id: 's1', name: 'Repositories', from: at(3), team: 4 })
}

const counts = (text: string) =>
  [...text.matchAll(/<small>([^<]*)<\/small><\/li>/g)].map(([, words]) => words)

test('compares two nights of an account: what differs, how many, and who updated it last', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await addHistory(harness)
  const [first, second] = [await addSnapshot(pool, 'a', at(2)), await addSnapshot(pool, 'a', at(4))]
  const path = `/changes/compare?from=${first}&to=${second}`
  const { status, text } = await harness.page(path)
  expect(status).toBe(200)
  expect(rowsIn(text)).toEqual([
    'changed Checkout is very slow alert rule 1 in a 7 name Checkout is very slow folder_id 1 → 7 Ada',
    'removed Gone alert rule 2 in a 1',
  ])
  expect(counts(text)).toEqual(['1 changed, 1 removed', '1 added'])
  expect(text).toContain('From the night (UTC)')
  expect(text).toContain(`<option value="${first}" selected>`)
  expect(text).toContain(`<option value="${second}" selected>`)
  const servers = await harness.page(`${path}&resource=mcp-servers`)
  expect(rowsIn(servers.text)).toEqual(['added Repositories MCP server s1 in a 4'])
  expect(counts(servers.text)).toEqual(['1 changed, 1 removed', '1 added'])
  expect(rowsIn((await harness.page(`${path}&kind=removed`)).text)).toEqual([
    'removed Gone alert rule 2 in a 1',
  ])
  expect((await harness.page(`${path}&kind=added`)).text).toContain('Nothing was added.')
  expect((await harness.page(`/changes/compare?from=${first}&to=${first}`)).text).toContain(
    'Nothing differs between the two moments.',
  )
})

test('offers the last night against the night before, of each account that has both', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const night = (account: string, day: number) =>
    addSnapshot(pool, account, `2026-01-0${day}T03:30:00Z`, { slot: `2026-01-0${day}T03:30:00Z` })
  await night('a', 1)
  await night('b', 1)
  const before = await night('a', 2)
  const last = await night('a', 3)
  await addSnapshot(pool, 'a', '2026-01-03T09:00:00Z')
  const { text } = await harness.page('/changes/compare')
  expect(hrefsOf(text, '/changes/compare?from')).toEqual([`/changes/compare?from=${before}&to=${last}`])
  expect(textOf(text)).toContain('Last night against the night before')
  await night('b', 2)
  const two = (await harness.page('/changes/compare')).text
  expect(hrefsOf(two, '/changes/compare?from')).toHaveLength(2)
  expect(textOf(two)).toContain('Last night against the night before, b')
})

test('each night that may be chosen has its time in the zone of the settings, its account, and what is unusual about it', async () => {
  await using harness = await openConsoleHarness({ config: { timezone: 'Europe/Berlin' } })
  const { pool } = harness.ferry
  const slot = '2026-01-02T02:30:00Z'
  const earlier = await addSnapshot(pool, 'a', '2026-01-01T02:30:09Z', { slot: '2026-01-01T02:30:00Z' })
  const ofB = await addSnapshot(pool, 'b', '2026-01-02T02:59:00Z', { slot, status: 'held' })
  const byHand = await addSnapshot(pool, 'a', '2026-01-02T09:15:00Z', { status: 'partial' })
  const last = await addSnapshot(pool, 'a', '2026-01-03T02:30:00Z', { slot: '2026-01-03T02:30:00Z' })
  const { text } = await harness.page('/changes/compare')
  const choicesOf = (name: string) => {
    const [, options = ''] = text.split(`<select name="${name}">`)
    return [...options.split('</select>')[0]!.matchAll(/<option value="(\d+)"([^>]*)>(.*?)</g)].map(
      ([, id, chosen, words]) => `${id}${chosen}: ${words}`,
    )
  }
  const choices = (chosen: bigint) =>
    [
      [last, '2026-01-03 03:30, a'],
      [byHand, '2026-01-02 10:15, a, partial, by hand'],
      [ofB, '2026-01-02 03:30, b, held'],
      [earlier, '2026-01-01 03:30, a'],
    ].map(([id, words]) => `${id}${id === chosen ? ' selected' : ''}: ${words}`)
  expect(text).toContain('From the night (Europe/Berlin)')
  expect(choicesOf('from')).toEqual(choices(byHand))
  expect(choicesOf('to')).toEqual(choices(last))
})

test('compares two moments of all accounts, in pages', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await addHistory(harness)
  for (let id = 100; id < 180; id++)
    await insertRuleVersion(pool, { id: `${id}`, name: `rule-${id}.`, from: at(3) })
  const found: string[] = []
  let path: string | undefined = '/changes/compare?from=2026-01-01T00:02&to=2026-01-01T00:04'
  while (path) {
    const { text } = await harness.page(path)
    expect(counts(text)).toEqual(['81 added, 1 changed, 1 removed', '1 added'])
    found.push(...rowsIn(text))
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    expect(found.length).toBeLessThanOrEqual(83)
  }
  expect(found).toHaveLength(83)
  expect(new Set(found).size).toBe(83)
  const inB = await harness.page('/changes/compare?from=2026-01-01T00:02&to=2026-01-01T00:04&account=b')
  expect(rowsIn(inB.text)).toEqual(['added New elsewhere alert rule 3 in b 1 Ada'])
})

test('without moments it asks for them; with one, the other is now, or a day before', async () => {
  await using harness = await openConsoleHarness()
  await addHistory(harness)
  expect((await harness.page('/changes/compare')).text).toContain('Choose two nights or two moments')
  const since = await harness.page('/changes/compare?from=2026-01-01T00:02')
  expect(counts(since.text)).toEqual(['1 added, 1 changed, 1 removed', '1 added'])
  const until = await harness.page('/changes/compare?to=2026-01-01T00:04')
  expect(counts(until.text)).toEqual(['2 added', '1 added'])
})

test('says that the history before its start is not known', async () => {
  await using harness = await openConsoleHarness()
  await harness.ferry.pool.query('insert into ferry.history (starts_at) values ($1)', [at(3)])
  const notice = async (from: number) =>
    (await harness.page(`/changes/compare?from=${at(from)}&to=${at(5)}`)).text.includes(
      'The history starts at',
    )
  expect([await notice(2), await notice(4)]).toEqual([true, false])
})

test('says that nothing was read before the first reading, or that a moment is in the future', async () => {
  await using harness = await openConsoleHarness()
  await harness.sync()
  const compared = async (from: string, to: string) => {
    const { text } = await harness.page(`/changes/compare?from=${from}&to=${to}`)
    return textOf(text)
  }
  const before = await compared('2020-01-01', '2020-01-02')
  expect(before).toMatch(/Account default was first read at \d{4}-/)
  expect(before).toContain('Nothing is known about these moments.')
  expect(before).not.toContain('Nothing differs between the two moments.')
  const since = await compared('2020-01-01', new Date().toISOString())
  expect(since).toContain('a first reading is one entry')
  expect(since).not.toContain('Nothing is known about these moments.')
  const now = new Date().toISOString()
  const until = await compared(now, '2999-01-01')
  expect(until).toContain(
    'The moment 2999-01-01 00:00:00 is in the future, so the current state is shown for it.',
  )
  expect(until).toContain('Nothing differs between the two moments.')
  const future = await compared('2999-01-01', '2999-01-02')
  expect(future).toContain('Both moments are in the future, so nothing is known about them.')
  expect(future).not.toContain('Nothing differs between the two moments.')
  expect(future).not.toContain('was first read')
})

test('what a first reading found is one entry of nobody, which leads to a list of it', async () => {
  await using harness = await openConsoleHarness({}, { rules: 60, servers: 0 })
  const from = '2020-01-01'
  await harness.sync()
  const path = `/changes/compare?from=${from}&to=${new Date().toISOString()}`
  const { text } = await harness.page(path)
  expect(rowsIn(text)).toEqual(['first reading 60 alert rules in default : existed before the first reading'])
  expect(counts(text)).toEqual(['first reading of 60', 'no difference'])
  expect(rowsIn((await harness.page(`${path}&kind=added`)).text)).toEqual([])
  const all = /<a href="([^"]+)">60 alert rules</.exec(text)?.[1]?.replaceAll('&amp;', '&')
  const listed = (await harness.page(all!)).text
  expect(rowsIn(listed)).toHaveLength(50)
  for (const row of rowsIn(listed)) expect(row).toMatch(/^first reading .* rule \d+ in default \d+$/)
  const next = /rel="next" href="([^"]+)"/.exec(listed)?.[1]?.replaceAll('&amp;', '&')
  expect(rowsIn((await harness.page(next!)).text)).toHaveLength(10)
  const other = `${path}&resource=mcp-servers`
  expect(rowsIn((await harness.page(other)).text)).toEqual([])
  expect(rowsIn((await harness.page(`${path}&account=another`)).text)).toEqual([])
})

test('a wrong address is refused with the name of what is wrong, an unknown snapshot is not found', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const [ofA, ofB] = [await addSnapshot(pool, 'a', at(2)), await addSnapshot(pool, 'b', at(2))]
  for (const [query, name] of [
    ['from=yesterday', 'from'],
    ['from=-1', 'from'],
    [`from=${ofA}&kind=returned`, 'kind'],
    [`from=${ofA}&to=${ofB}`, 'from, to'],
    ['from=2026-01-02&to=2026-01-01', 'from'],
    ['from=2999-01-01', 'from'],
    [`from=${ofA}&resource=pages`, 'resource'],
    [`from=${ofA}&after=x`, 'after'],
    [`from=${ofA}&account=%00`, 'account'],
  ]) {
    const { status, text } = await harness.page(`/changes/compare?${query}`)
    expect([query, status]).toEqual([query, 400])
    expect(text).toContain(`The address is wrong: ${name}`)
  }
  expect((await harness.page('/changes/compare?from=999&to=2026-01-01')).status).toBe(404)
})

test('names of others are text, whatever they contain', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  for (const [n, name] of HOSTILE.entries()) {
    await insertRuleVersion(pool, { id: `${n}`, account: name, name, by: name, from: at(1), to: at(3) })
    await insertRuleVersion(pool, {
      id: `${n}`,
      account: name,
      name: `${name}!`,
      by: name,
      labels: { [name]: name },
      from: at(3),
    })
    await addSnapshot(pool, name, at(2))
  }
  for (const path of [`/changes/compare?from=${at(2)}&to=${at(4)}`, '/ledger/snapshots']) {
    const { status, text } = await harness.page(path)
    expect(status).toBe(200)
    expect(rowsIn(text)).toHaveLength(HOSTILE.length)
    expect(text).not.toMatch(/<script>|<img src=x|onerror=alert\(1\)>/)
  }
})
