import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { openCaller } from '#src/notify/caller.ts'
import { BOTH_TOKENS, OPERATE_TOKEN, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { HOSTILE, hrefsOf } from './page-text.ts'

/** With a message to the receiver `webhook`, if it was ever tried. */
const ADD = `with event as (
    insert into ferry.events (kind, state, account, subject, data, at)
    values ($1, $2, $3, 's', $4, clock_timestamp() - $6::interval) returning *
  )
  insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, delivered_at, failure, retry_at)
  select id, 'webhook', kind, account, subject, data, at, $5::int, case when $7 then clock_timestamp() end, $8, clock_timestamp()
  from event where $5::int > 0`

const WEBHOOK = { notify: readConfig({ FERRY_WEBHOOK_URL: 'http://127.0.0.1:1/' }).notify }

const PAUSED = JSON.stringify({ import: '7', code: 'NoLicense' })

test('each event is told in a sentence, with what became of its message, and why one is dead', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS, config: WEBHOOK })
  const add = (...params: unknown[]) => harness.query(ADD, params)
  await add('import.paused', 'raised', 'default', PAUSED, 0, '25 h', false, null)
  await add('import.paused', 'raised', 'default', PAUSED, 9, '25 h', false, 'it answered HTTP 500')
  await add('import.paused', 'raised', 'default', PAUSED, 2, '1 h', false, 'it answered HTTP 503')
  await add('import.paused', 'resolved', 'other', PAUSED, 1, '1 min', true, null)
  const at = async (query: string) => (await harness.page(`/ledger/events?${query}`, READ_TOKEN)).text
  const all = await at('')
  expect(all).toContain('Import 7 is paused (NoLicense). <code>ferry imports show 7</code> says why')
  expect(all).toContain('Import 7 is no longer paused.')
  expect(hrefsOf(all, '/imports/7')).toHaveLength(4)
  expect(all).toContain(
    '1 message to webhook was not accepted within a day; 1 message to webhook waits to be sent again',
  )
  const states = (text: string) =>
    [...text.matchAll(/badge \w+">(delivered|waiting|dead|not sent)</g)].map(match => match[1])
  expect(states(all)).toEqual(['delivered', 'waiting', 'dead', 'not sent'])
  const dead = await at('delivery=dead')
  expect(states(dead)).toEqual(['dead'])
  expect(dead).toMatch(/9 attempts: .*it answered HTTP 500/)
  expect(states(await at('account=other'))).toEqual(['delivered'])
  expect(states(await at('kind=import.paused&since=2000-01-01'))).toHaveLength(4)
  expect(await at('kind=drift.found')).toContain('No event matches.')
  expect(await at('until=2000-01-01')).toContain('No event matches.')
})

test('an event leads to the run, the holds, the snapshots or the tools that it is about', async () => {
  await using harness = await openConsoleHarness()
  const add = (kind: string, data: object) =>
    harness.query(ADD, [kind, 'raised', 'default', JSON.stringify(data), 1, '1 s', true, null])
  await add('removals.held', { inventory: 'alert-rules', run: '41', rows: 15 })
  await add('night.missed', { night: '2026-11-20' })
  await add('mcp.tools.changed', { inventory: 'mcp-servers', run: '42', servers: 1, serverIds: ['x'] })
  const { text } = await harness.page('/ledger/events')
  expect(hrefsOf(text, '/mcp/changes')).toEqual(['/mcp/changes'])
  expect(hrefsOf(text, '/ledger/holds/')).toEqual(['/ledger/holds/41'])
  expect(hrefsOf(text, '/ledger/snapshots')).toHaveLength(2)
})

test('only what can be resolved is raised or resolved; what happened has no state', async () => {
  await using harness = await openConsoleHarness()
  for (const [kind, state] of [
    ['import.completed', 'raised'],
    ['rule.added', 'raised'],
    ['import.paused', 'raised'],
    ['import.paused', 'resolved'],
  ]) {
    await harness.query(ADD, [kind, state, 'default', PAUSED, 0, '1 s', false, null])
  }
  const { text } = await harness.page('/ledger/events')
  expect(
    [...text.matchAll(/<span>((?:import|rule)[.]\w+) (?:<span class="badge \w+">(\w+)<)?/g)].map(
      ([, ...one]) => one,
    ),
  ).toEqual([
    ['import.paused', 'resolved'],
    ['import.paused', 'raised'],
    ['rule.added', undefined],
    ['import.completed', undefined],
  ])
})

test('the failure that is shown has nothing of the address that may be secret', async () => {
  await using harness = await openConsoleHarness()
  const url = 'http://127.0.0.1:1/services/T0/hush?token=hush'
  const { notify, proxy } = readConfig({ FERRY_WEBHOOK_URL: url })
  await using caller = openCaller(notify.receivers[0]!.url, 'FERRY_WEBHOOK_URL', notify, proxy)
  const result = await caller.call(null, new AbortController().signal)
  expect(result).toMatchObject({ ok: false, why: expect.stringContaining('refused') })
  await harness.query(ADD, [
    ...['import.paused', 'raised', 'default', PAUSED, 1, '1 h', false],
    'why' in result ? result.why : null,
  ])
  const { text } = await harness.page('/ledger/events')
  expect(text).toContain('the connection was refused')
  expect(text).not.toMatch(/hush|services/)
})

test('events are shown page by page, wrong addresses are named, and hostile text is text', async () => {
  await using harness = await openConsoleHarness()
  expect((await harness.page('/ledger/events')).text).toContain('No events yet.')
  await harness.query(
    `insert into ferry.events (kind, state, account, subject, data)
     select 'import.completed', 'raised', 'default', n, jsonb_build_object('import', n::text) from generate_series(1, 60) n`,
  )
  const first = (await harness.page('/ledger/events')).text
  const next = hrefsOf(first, '/ledger/events?').find(href => href.includes('after='))!
  const second = (await harness.page(next)).text
  const seen = [...hrefsOf(first, '/imports/'), ...hrefsOf(second, '/imports/')]
  expect(seen).toEqual(Array.from({ length: 60 }, (_, n) => `/imports/${60 - n}`))
  for (const [query, name] of [
    ['kind=x', 'kind'],
    ['delivery=lost', 'delivery'],
    ['after=x', 'after'],
    ['since=x', 'since'],
  ] as const) {
    const { status, text } = await harness.page(`/ledger/events?${query}`)
    expect(status).toBe(400)
    expect(text).toContain(`The address is wrong: ${name}: `)
  }
  for (const name of HOSTILE) {
    const data = JSON.stringify({ import: name, code: name })
    await harness.query(ADD, ['import.paused', 'raised', name, data, 1, '1 h', false, name])
  }
  const { status, text } = await harness.page('/ledger/events')
  expect(status).toBe(200)
  expect(text).not.toMatch(/<script>|<img src=x/)
})

test('without a receiver an event says that nobody was told; with one it waits until it is decided who is told', async () => {
  const tell = async (settings: Record<string, string>, isRouted = false) => {
    const { notify } = readConfig(settings)
    await using harness = await openConsoleHarness({ config: { notify } })
    await harness.query(ADD, ['import.paused', 'raised', 'default', PAUSED, 0, '1 h', false, null])
    if (isRouted) await harness.query('update ferry.events set routed_at = now()')
    return (await harness.page('/ledger/events')).text
  }
  const alone = await tell({})
  expect(alone).toContain('waiting: no receiver is set</span>')
  expect(alone).toContain('No receiver is set, so Ferry sends no notifications')
  expect(alone).not.toContain('>waiting</span>')
  const FERRY_WEBHOOK_URL = 'http://127.0.0.1:1/'
  const told = await tell({ FERRY_WEBHOOK_URL })
  expect(told).toContain('>waiting</span>')
  expect(told).not.toMatch(/nobody/)
  const unwanted = await tell({ FERRY_WEBHOOK_URL }, true)
  expect(unwanted).toContain('>not sent</span>')
  expect(unwanted).not.toContain('>waiting</span>')
})

test('a message that is dead or was lost is sent again by a decision, which the audit has; one that waits is not', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS, config: WEBHOOK })
  await harness.query(ADD, [
    'import.paused',
    'raised',
    'default',
    PAUSED,
    9,
    '25 h',
    false,
    'it answered HTTP 500',
  ])
  await harness.query(ADD, [
    'import.paused',
    'resolved',
    'default',
    PAUSED,
    1,
    '1 min',
    false,
    'it answered HTTP 503',
  ])
  const path = '/ledger/events/1/webhook/send'
  const { text } = await harness.page('/ledger/events', OPERATE_TOKEN)
  expect(hrefsOf(text, '/ledger/events/')).toEqual([path])
  expect(hrefsOf((await harness.page('/ledger/events', READ_TOKEN)).text, '/ledger/events/')).toEqual([])
  expect((await harness.page(path, READ_TOKEN)).status).toBe(403)
  for (const wrong of [
    '/ledger/events/9/webhook/send',
    '/ledger/events/x/webhook/send',
    '/ledger/events/1/other/send',
  ]) {
    expect((await harness.page(wrong, OPERATE_TOKEN)).status).toBe(404)
  }
  expect((await harness.submit(path, { because: 'the chat was down' }, OPERATE_TOKEN)).status).toBe(303)
  expect(
    await harness.query(
      "select event, attempts, failure, at > now() - interval '1 min' as is_now from ferry.deliveries order by event",
    ),
  ).toEqual([
    { event: '1', attempts: 0, failure: null, is_now: true },
    { event: '2', attempts: 1, failure: 'it answered HTTP 503', is_now: false },
  ])
  expect((await harness.submit(path, {}, OPERATE_TOKEN)).status).toBe(409)
  expect((await harness.submit('/ledger/events/2/webhook/send', {}, OPERATE_TOKEN)).status).toBe(409)
  expect(
    await harness.query('select account, action, subject_kind, subject_id, because from ferry.audit'),
  ).toEqual([
    {
      account: 'default',
      action: 'send',
      subject_kind: 'event',
      subject_id: '1',
      because: 'the chat was down',
    },
  ])
})
