import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { startRun } from '#src/inventory/runs/ledger.ts'
import type { AnyQueue } from '#src/queue/kind.ts'
import { Outage } from '#src/queue/outage.ts'
import { Producer } from '#src/queue/producer.ts'
import { pauseSchedule } from '#src/schedules/control.ts'
import type { Schedule } from '#src/schedules/definition.ts'
import { DueFinder } from '#src/schedules/find-due.ts'
import { takeSlot } from '#src/schedules/slot-lease.ts'
import { slotAt, type Timing } from '#src/schedules/timing.ts'
import { Reconciler, type WorkerFacts } from '#src/worker/reconcile.ts'
import type { WorkerContext } from '#src/worker/worker.ts'
import { ADA } from '#test/support/acted-by.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { NEW_RUN } from '#test/support/runs.ts'
import { ONCE, openQueueHarness, type QueueHarness, testJob } from './queue-harness.ts'

const scheduleOf = (schedule: string, timing: Timing, account = 'default'): Schedule => ({
  schedule,
  account,
  timing,
  beginsAtOnce: false,
  retryAfterMs: [],
  skippedAgainAfterMs: null,
})

function openReconciler(
  harness: QueueHarness,
  schedules: readonly Schedule[],
  context: WorkerContext = harness.ferry,
  facts?: WorkerFacts,
  dueFinder?: Pick<DueFinder, 'find'>,
) {
  const backend = harness.openBackend()
  const producers = { sync: backend.openQueue('sync'), import: backend.openQueue('import') }
  const begun: string[] = []
  const consumer = { processHere: (_: string, wakeUp: unknown) => void begun.push(JSON.stringify(wakeUp)) }
  const queues = { producers, consumers: { sync: consumer, import: consumer } }
  const due = dueFinder ?? new DueFinder({ ...context, installedAt: new Date() })
  const reconciler = new Reconciler(context, due, queues, schedules, facts)
  return {
    look: () => reconciler.look(),
    /** The wake-ups that were begun without the queue. */
    begun,
    async [Symbol.asyncDispose]() {
      await producers.sync.close()
      await producers.import.close()
    },
  }
}

const accountsWoken = async (harness: QueueHarness) =>
  (await harness.queue.getJobs(['waiting'])).map(job => job.data.account).sort()

test('a schedule whose time cannot be computed stops no other, and is logged once', async () => {
  await using harness = await openQueueHarness('postgres')
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: line => lines.push(line) })
  const never = scheduleOf('never', { cron: '0 0 31 4,6 *', timezone: 'UTC' })
  await using reconciler = openReconciler(harness, [never, scheduleOf('poll', ONCE)], {
    ...harness.ferry,
    log,
  })
  await reconciler.look()
  await reconciler.look()
  expect(await accountsWoken(harness)).toContain('default')
  expect(lines).toEqual([expect.stringContaining('cannot be computed')])
})

test('a look at nothing that is due takes two statements', async () => {
  await using harness = await openQueueHarness('postgres')
  const { pool } = harness.ferry
  await using reconciler = openReconciler(harness, [scheduleOf('poll', { everyMs: 3_600_000, offsetMs: 0 })])
  for (let look = 1; look <= 2; look++) await reconciler.look()
  const query = vi.spyOn(pool, 'query')
  await reconciler.look()
  expect(query).toHaveBeenCalledTimes(2)
})

test('targets that somebody removed are written again, without a statement more while none is missing', async () => {
  await using harness = await openQueueHarness('postgres')
  const { pool } = harness.ferry
  const targets = [FRESHNESS_TARGET, { ...FRESHNESS_TARGET, resource: 'mcp-servers' as const }]
  await using reconciler = openReconciler(
    harness,
    [scheduleOf('poll', { everyMs: 3_600_000, offsetMs: 0 })],
    harness.ferry,
    { targets },
  )
  for (let look = 1; look <= 2; look++) await reconciler.look()
  const query = vi.spyOn(pool, 'query')
  await reconciler.look()
  expect(query).toHaveBeenCalledTimes(2)
  await pool.query(`delete from ferry.freshness_targets where resource = 'mcp-servers'`)
  await reconciler.look()
  const { rows } = await pool.query('select account, resource from ferry.freshness_targets order by 2')
  expect(rows).toEqual([
    { account: 'default', resource: 'alert-rules' },
    { account: 'default', resource: 'mcp-servers' },
  ])
})

test('what is due is right even after this machine has slept, by the clock of the database', async () => {
  await using harness = await openQueueHarness('postgres')
  const dueFinder = new DueFinder({ ...harness.ferry, installedAt: new Date() })
  const poll = scheduleOf('poll', { everyMs: 600_000, offsetMs: 0 })
  const before = await dueFinder.find([poll])
  const now = performance.now.bind(performance)
  using _slept = vi.spyOn(performance, 'now').mockImplementation(() => now() - 3_600_000)
  const { due, nextInMs } = await dueFinder.find([poll])
  expect(due).toEqual(before.due)
  expect(nextInMs).toBeGreaterThan(0)
})

test('a pause of one account pauses no other', async () => {
  await using harness = await openQueueHarness('postgres', { accounts: ['east', 'west'] })
  await pauseSchedule(
    harness.ferry.pool,
    harness.schedulesOf([testJob({ name: 'poll', timing: ONCE })]),
    'poll',
    'east',
    ADA,
  )
  await using reconciler = openReconciler(harness, [
    scheduleOf('poll', ONCE, 'east'),
    scheduleOf('poll', ONCE, 'west'),
  ])
  await reconciler.look()
  expect(await accountsWoken(harness)).toEqual(['west'])
})

test('looks again when the next slot is due, or the next one that waits is free', async () => {
  await using harness = await openQueueHarness('postgres')
  await using rarely = openReconciler(harness, [scheduleOf('poll', ONCE), scheduleOf('other', ONCE)])
  expect(await rarely.look()).toBeGreaterThan(24 * 3_600_000)
  for (const [schedule, freeInMs] of [
    ['poll', 40_000],
    ['other', 90_000],
  ] as const) {
    const key = { schedule, account: 'default' }
    const lease = await takeSlot(harness.ferry, key, slotAt(ONCE, new Date()), { evenIfPaused: false })
    await lease!.end({ to: 'retry after a failure', afterMs: freeInMs })
  }
  const soon = await rarely.look()
  expect(soon).toBeLessThanOrEqual(40_000)
  expect(soon).toBeGreaterThan(10_000)
  await using often = openReconciler(harness, [
    scheduleOf('often', { everyMs: 5_000 }),
    scheduleOf('poll', ONCE),
  ])
  expect(await often.look()).toBeLessThanOrEqual(5_000)
})

test('enqueues what is due once in three seconds, however many workers look', async () => {
  await using harness = await openQueueHarness('postgres')
  const workers = [1, 2, 3].map(() => openReconciler(harness, [scheduleOf('poll', ONCE)]))
  for (const worker of workers) await worker.look()
  expect((await accountsWoken(harness)).length).toBeLessThanOrEqual(2)
  for (const worker of workers) await worker[Symbol.asyncDispose]()
})

test('a clock that is seconds wrong is logged once, either way, and so is that it is right again', async () => {
  await using harness = await openQueueHarness('postgres')
  const lines: { level: number; msg: string }[] = []
  const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
  const readings = [0, 3_150, 10_000, 10_000, -10_000, 0, 0, -10_000]
  const find: DueFinder['find'] = async () => ({
    due: [],
    later: [],
    nextInMs: 1_000,
    // Exact to half of the round trip.
    clock: { now: new Date(), aheadMs: readings.shift() ?? 0, roundTripMs: 400 },
  })
  await using reconciler = openReconciler(harness, [], { ...harness.ferry, log }, {}, { find })
  while (readings.length > 0) await reconciler.look()
  expect(lines.map(({ level, msg }) => `${pino.levels.labels[level]} ${msg.split('.')[0]}`)).toEqual([
    "warn This machine's clock is 10 s ahead of the database's",
    "info This machine's clock agrees with the database's again",
    "warn This machine's clock is 10 s behind the database's",
  ])
})

test('what is due is begun without the queue once it was due at every look for three seconds, and is enqueued all the same', async () => {
  await using harness = await openQueueHarness('postgres')
  await using reconciler = openReconciler(harness, [scheduleOf('poll', ONCE)])
  await reconciler.look()
  expect(reconciler.begun).toEqual([])
  await harness.wipeQueue()
  const now = performance.now.bind(performance)
  using _later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 3_000)
  await reconciler.look()
  expect(reconciler.begun).toEqual(['{"job":"poll","account":"default"}'])
  expect(await accountsWoken(harness)).toEqual(['default'])
})

test('looks no more often than five times a second, however soon something is due', async () => {
  await using harness = await openQueueHarness('postgres')
  let nextInMs = -5
  const clock = { now: new Date(), aheadMs: 0, roundTripMs: 0 }
  const find: DueFinder['find'] = async () => ({ due: [], later: [], nextInMs, clock })
  await using reconciler = openReconciler(harness, [], harness.ferry, {}, { find })
  expect(await reconciler.look()).toBe(200)
  nextInMs = 201
  expect(await reconciler.look()).toBe(201)
})

test('a look that cannot record its worker fails, and the next one records it', async () => {
  await using harness = await openQueueHarness('postgres')
  const { pool } = harness.ferry
  await using reconciler = openReconciler(harness, [])
  await pool.query('alter table ferry.workers rename to gone')
  await expect(reconciler.look()).rejects.toMatchObject({ code: '42P01' })
  await pool.query('alter table ferry.gone rename to workers')
  await reconciler.look()
  expect((await pool.query('select from ferry.workers')).rowCount).toBe(1)
})

test('a run that a lost worker left is failed, and that is logged once, with its number', async () => {
  await using harness = await openQueueHarness('postgres')
  const { pool } = harness.ferry
  const lines: object[] = []
  const log = pino({ level: 'warn', base: null }, { write: line => void lines.push(JSON.parse(line)) })
  const run = await startRun(pool, NEW_RUN, { token: randomUUID() })
  await using reconciler = openReconciler(harness, [], { ...harness.ferry, log })
  for (let look = 1; look <= 2; look++) await reconciler.look()
  const msg = 'A run was marked failed: its worker was lost.'
  expect(lines).toEqual([expect.objectContaining({ level: 40, msg, run: expect.anything() })])
  expect(JSON.stringify(lines)).toContain(`"${run}"`)
  const { rows } = await pool.query('select status, error_code from ferry.sync_runs')
  expect(rows).toEqual([{ status: 'failed', error_code: 'WorkerLost' }])
})

test.for(['sync', 'import'] as const)(
  'after a failure of the queue %s, the next look tries whether it takes jobs again',
  async name => {
    await using harness = await openQueueHarness('postgres')
    const asked: string[] = []
    const outage = new Outage(pino({ level: 'silent' }), 'here')
    const producerOf = (queue: string) => {
      const scripted: Partial<AnyQueue> = {
        waitUntilReady: async () => undefined as never,
        async add(job) {
          asked.push(`${queue} ${job}`)
          return undefined as never
        },
        getBackend: () => ({ close: async () => {} }),
      }
      return new Producer<never>(queue, () => scripted as AnyQueue, outage)
    }
    const consumer = { processHere: () => {} }
    const reconciler = new Reconciler(
      harness.ferry,
      new DueFinder({ ...harness.ferry, installedAt: new Date() }),
      {
        producers: { sync: producerOf('sync'), import: producerOf('import') },
        consumers: { sync: consumer, import: consumer },
      },
      [],
    )
    outage.begins(`${name}: add`, new Error('away'))
    for (let look = 1; look <= 2; look++) await reconciler.look()
    expect(asked).toEqual([`${name} check`])
  },
)
