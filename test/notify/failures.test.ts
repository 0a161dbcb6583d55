import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { EventKey } from '#src/model/event.ts'
import type { Notifier } from '#src/notify/notifier.ts'
import { recordResult } from '#src/notify/pending.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { type NotifyHarness, openNotifyHarness } from './notify-harness.ts'
import { status } from './receiver.ts'

/* What is done about a message that a receiver does not accept. */

test('a receiver that is not well is tried after 5 s, then twice as long each time, and every five minutes in the end', async () => {
  await using harness = await openNotifyHarness()
  const notifier = harness.openNotifier()
  harness.receiver.answer = status(500)
  await harness.raise({})
  const waits: number[] = []
  for (let attempt = 1; attempt <= 9; attempt++) {
    const before = await harness.query<{ now: string }>('select clock_timestamp()::text as now')
    waits.push(await notifier.look())
    const { rows } = await harness.ferry.pool.query(
      `select attempts, http_status, failure,
         retry_at between $2::timestamptz + $1 * interval '1 ms' and clock_timestamp() + $1 * interval '1 ms' as is_then
       from ferry.deliveries`,
      [waits.at(-1), before[0]!.now],
    )
    const failure = 'it answered HTTP 500'
    expect(rows).toEqual([{ attempts: attempt, http_status: 500, failure, is_then: true }])
    await harness.endWaiting()
  }
  expect(waits.map(ms => ms / 1_000)).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
  harness.receiver.answer = status(200)
  await notifier.look()
  expect(
    await harness.query(
      'select attempts, http_status, failure, retry_at, delivered_at is not null as told from ferry.deliveries',
    ),
  ).toEqual([{ attempts: 10, http_status: 200, failure: null, retry_at: null, told: true }])
})

test.for([
  ['400, 413 or 422 holds up its message', [400, 413, 422], 3],
  ['any other status holds up everything', [301, 401, 404, 410, 429, 503], 1],
] as const)('an answer with %s', async ([, codes, sent]) => {
  await using harness = await openNotifyHarness()
  const notifier = harness.openNotifier()
  for (const code of codes) {
    harness.receiver.answer = status(code)
    await harness.query('delete from ferry.events')
    harness.receiver.received.length = 0
    for (const subject of ['1', '2', '3']) await harness.raise({ subject })
    await expectWait(notifier, 5_000)
    expect(harness.receiver.received).toHaveLength(sent)
  }
})

test('a refused message holds up those of its kind, account and subject, and no others', async () => {
  await using harness = await openNotifyHarness()
  const { receiver } = harness
  const key = { kind: 'import.paused', account: 'default', subject: '1' } as const
  const others: Partial<EventKey>[] = [{ kind: 'import.undecided' }, { account: 'other' }, { subject: '2' }]
  await harness.raise(key)
  await harness.resolve(key)
  for (const other of others) await harness.raise({ ...key, ...other })
  receiver.answer = response => {
    const { type, data } = JSON.parse(receiver.received.at(-1)?.body ?? '{}')
    const isFirst = type === key.kind && data.account === key.account && data.state === 'raised'
    response.writeHead(isFirst && receiver.received.length === 1 ? 400 : 200).end()
  }
  const notifier = harness.openNotifier()
  await expectWait(notifier, 5_000)
  const told = () => receiver.messages().map(({ type, data }) => `${type} ${data.account} ${data.state}`)
  const atOnce = [
    'import.paused default raised',
    'import.undecided default raised',
    'import.paused other raised',
    'import.paused default raised',
  ]
  expect(told()).toEqual(atOnce)
  // Still so while it waits; the wait gets shorter.
  await expectWait(notifier, 5_000)
  expect(told()).toEqual(atOnce)
  await harness.endWaiting()
  expect(await notifier.look()).toBe(0)
  await notifier.look()
  expect(told()).toEqual([...atOnce, 'import.paused default raised', 'import.paused default resolved'])
})

test('of several that wait, the next look is when the first of them is due', async () => {
  await using harness = await openNotifyHarness()
  harness.receiver.answer = status(400)
  const notifier = harness.openNotifier()
  await harness.raise({ subject: '1' })
  await expectWait(notifier, 5_000)
  await harness.raise({ subject: '2' })
  await harness.query(
    `update ferry.deliveries set retry_at = clock_timestamp() + interval '4 min' where subject = '1'`,
  )
  await expectWait(notifier, 5_000)
  await harness.query(
    `update ferry.deliveries set retry_at = clock_timestamp() + case subject when '1' then interval '1 min' else interval '4 min' end`,
  )
  await expectWait(notifier, 60_000)
})

test('more messages than one look takes are all sent, each once, in their order', async () => {
  await using harness = await openNotifyHarness()
  await harness.query(
    `insert into ferry.events (kind, state, account, subject, data, is_open, at)
     select 'import.paused', 'raised', 'default', n::text, jsonb_build_object('import', n::text), true, clock_timestamp()
     from generate_series(1, 201) n`,
  )
  const notifier = harness.openNotifier()
  for (let looks = 1; (await notifier.look()) === 0; looks++) expect(looks).toBeLessThan(10)
  const told = harness.receiver.messages().map(({ data }) => Number(data.import))
  expect(told).toEqual(Array.from({ length: 201 }, (_, n) => n + 1))
  expect(await notifier.look()).toBe(Number.POSITIVE_INFINITY)
  expect(harness.receiver.received).toHaveLength(201)
})

test('a message is sent for a day, and no longer', async () => {
  await using harness = await openNotifyHarness()
  for (const subject of ['1', '2']) await harness.raise({ subject }, { import: subject })
  await harness.query(
    `update ferry.events set at = at - case subject when '1' then interval '24 h 10 min' else interval '23 h 50 min' end`,
  )
  await harness.openNotifier().look()
  expect(harness.receiver.messages().map(({ data }) => data.import)).toEqual(['2'])
})

test('what a second worker learns of a message that was accepted changes nothing', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  await harness.openNotifier().look()
  const stored = () => harness.query<{ event: string }>('select * from ferry.deliveries')
  const [before] = await stored()
  const late = { ok: false, httpStatus: 500, why: 'it answered HTTP 500' } as const
  await recordResult(harness.ferry.pool, 'webhook', [before!.event], late, 5_000)
  expect(await stored()).toEqual([before])
})

test('the first failure of a message is a warning, its repetitions are not', async () => {
  await using harness = await openNotifyHarness()
  const levels: string[] = []
  const log = pino(
    { level: 'debug' },
    { write: line => void levels.push(pino.levels.labels[JSON.parse(line).level]!) },
  )
  const notifier = harness.openNotifier({}, undefined, log)
  harness.receiver.answer = status(500)
  await harness.raise({})
  for (let attempt = 0; attempt < 3; attempt++) {
    await notifier.look()
    await harness.endWaiting()
  }
  harness.receiver.answer = status(200)
  await notifier.look()
  expect(levels).toEqual(['warn', 'debug', 'debug', 'debug'])
})

test('a worker that watches does so again after twenty seconds, and not before', async () => {
  await using harness = await openNotifyHarness()
  await saveFreshnessTargets(harness.ferry.pool, [FRESHNESS_TARGET])
  await harness.sync()
  const notifier = harness.openNotifier()
  await notifier.look()
  await harness.query(`update ferry.sync_runs set started_at = started_at - interval '4 min'`)
  const nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now')
  onTestFinished(() => clock.mockRestore())
  const lateAfter = async (ms: number) => {
    clock.mockReturnValue(nowMs + ms)
    await notifier.look()
    return late(harness)
  }
  clock.mockReturnValue(nowMs)
  expect(await lateAfter(0)).toBe(0)
  expect(await lateAfter(20_001)).toBe(1)
  await harness.sync()
  expect(await lateAfter(40_000)).toBe(1)
  expect(await lateAfter(40_002)).toBe(2)
})

async function late(harness: NotifyHarness): Promise<number> {
  return (await harness.query(`select from ferry.events where kind = 'inventory.late'`)).length
}

/** Looks until nothing is left that can be sent at once. What is left then waits, for so long at most. */
async function expectWait(notifier: Pick<Notifier, 'look'>, maxMs: number): Promise<void> {
  let waitMs = 0
  for (let looks = 0; waitMs === 0; looks++) {
    expect(looks).toBeLessThan(4)
    waitMs = await notifier.look()
  }
  expect(waitMs).toBeGreaterThan(0)
  expect(waitMs).toBeLessThanOrEqual(maxMs)
}
