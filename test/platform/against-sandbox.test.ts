import { pino } from 'pino'
import { expect, test } from 'vitest'
import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import { Secret } from '#src/model/secret.ts'
import { openPlatformClient } from '#src/platform/client.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { collectRows, listRules } from '#test/support/collect-rows.ts'
import { importOnce } from '#test/support/import-once.ts'
import { readServers } from '#test/support/mcp-list.ts'
import { openCheckedSandbox } from '#test/support/sandbox.ts'
import { createThrottle } from '../support/create-throttle.ts'

const context = { runId: null, signal: new AbortController().signal }

async function setup(options: Partial<SandboxOptions> = {}) {
  await using opened = new AsyncDisposableStack()
  const sandbox = opened.use(await openCheckedSandbox({ limits: false, ...options }))
  const throttle = createThrottle()
  const client = opened.use(
    openPlatformClient({
      account: 'sandbox',
      baseUrl: sandbox.baseUrl,
      baseUrlSetting: 'FERRY_BASE_URL',
      appKey: new Secret(sandbox.appKey),
      keySetting: 'FERRY_APP_KEY',
      throttle,
      requestTimeoutMs: 1_000,
      log: pino({ level: 'silent' }),
    }),
  )
  const kept = opened.move()
  return { sandbox, state: sandbox.state, client, throttle, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function rulesOf({ client }: Awaited<ReturnType<typeof setup>>) {
  const taken = collectRows()
  const answer = await listRules(client, context, { taken })
  if (!answer.ok) throw new Error(answer.refusal.message)
  return { ...answer.data, taken }
}

/** Integers as text: a small one may be a number or a bigint. */
function plain(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
}

test('every rule comes as the platform has it, ids at the top of uint64 and odd text included', async () => {
  await using platform = await setup({ rules: 300, hugeIds: 5 })
  const odd = platform.state.addRule({
    name: 'a\0b',
    labels: JSON.parse('{"__proto__":"p","k\\ud800":"\\u0000"}'),
  })
  const { taken, drift } = await rulesOf(platform)
  expect({ quarantined: taken.quarantined, drift }).toEqual({ quarantined: [], drift: [] })
  const rows = taken.good.map(({ row }) => whole(row))
  expect(plain(rows.slice(0, 300))).toEqual(plain(platform.state.rules.rows().slice(0, 300)))
  expect(rows[300]).toMatchObject({ id: Number(odd.id), name: 'a␀b' })
  expect(Object.entries(rows[300]?.labels ?? {})).toEqual([
    ['__proto__', 'p'],
    ['k\ufffd', '␀'],
  ])
  expect(taken.good[300]?.altered).toEqual(['name', 'labels.k\ufffd'])
})

test('the same data has the same hash under every request_id, and other data another', async () => {
  await using platform = await setup()
  const hashes = [(await rulesOf(platform)).dataHash, (await rulesOf(platform)).dataHash]
  platform.state.mutate(1)
  hashes.push((await rulesOf(platform)).dataHash)
  expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(hashes[1]).toBe(hashes[0])
  expect(hashes[2]).not.toBe(hashes[0])
})

test('every server comes, over as many pages as the platform makes of them', async () => {
  await using platform = await setup({ servers: 230, maxPageSize: 50 })
  const reading = await readServers(
    platform.client,
    { limit: 100, includeAccount: true },
    () => true,
    context,
  )
  expect(reading).toMatchObject({ status: 'complete', pages: 5, requests: 5 })
  expect(plain(reading.good.map(({ row }) => row))).toEqual(plain(platform.state.servers.rows()))
})

test('a total frozen below the number of servers hides none of them', async () => {
  await using platform = await setup({ servers: 60, maxPageSize: 10 })
  platform.state.freezeTotalAt = 20
  const reading = await readServers(platform.client, { limit: 10, includeAccount: true }, () => true, context)
  expect(reading).toMatchObject({ status: 'complete', good: { length: 60 } })
})

test('subscribers arrive as they were sent', async () => {
  await using platform = await setup()
  const subscribers = [{ recipient: 'ada@example.com', all: true as const, locale: 'en-US' }]
  const answer = await importOnce(
    platform,
    { page_id: SANDBOX_PAGE_ID, method: 'email', subscribers },
    context,
  )
  expect(answer).toMatchObject({ ok: true, requests: 1 })
})

test('a listing outlives two calls of any kind gone wrong', async () => {
  const kinds = ['drop', 'hang', 'html', 'truncate', 'no-data', 'empty', 'wrong-types'] as const
  const answers = kinds.map(async kind => {
    await using platform = await setup()
    platform.state.inject({ kind }, { nth: 1 })
    platform.state.inject({ kind }, { nth: 2 })
    return await listRules(platform.client, context) // before the platform closes
  })
  expect(await Promise.all(answers)).toMatchObject(kinds.map(() => ({ ok: true, requests: 3 })))
})

/** A row with all of its fields, also those that are read from its text when they are asked for. */
function whole(rule: AlertRule): AlertRule {
  const names = Object.keys(ALERT_RULE.fields) as (keyof AlertRule)[]
  return Object.fromEntries(names.map(name => [name, rule[name]])) as unknown as AlertRule
}
