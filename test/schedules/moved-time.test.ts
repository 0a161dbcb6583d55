import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readClock } from '#src/db/clock.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { DueFinder } from '#src/schedules/find-due.ts'
import { timedSince } from '#src/worker/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { openTestStore } from '#test/support/store.ts'
import { dailyCron } from '../worker/queue-harness.ts'

/* The time of the nightly snapshot is moved to earlier today. */

const HOUR = 3_600_000
const nightly = { schedule: 'snapshot-inventory', account: 'default' }

/** Ferry, whose nightly snapshot was due `beforeMs` ago until now, and from now on is due `afterMs` ago. */
async function setup(beforeMs: number, afterMs: number) {
  const store = await openTestStore()
  const [before, after] = [dailyCron(beforeMs), dailyCron(afterMs)]
  const target = { ...FRESHNESS_TARGET, resource: 'mcp-servers' as const, schedule: nightly.schedule }
  for (const { cron } of [before, after])
    await saveFreshnessTargets(store.pool, [{ ...target, nightlyCron: cron }])
  const finder = new DueFinder({
    pool: store.pool,
    log: pino({ level: 'silent' }),
    catchUpMs: 24 * HOUR,
    installedAt: new Date(0),
    timedSince,
  })
  const timing = { cron: after.cron, timezone: 'UTC' }
  return Object.assign(store, {
    before: before.slot,
    after: after.slot,
    async addSlot(slot: Date, doneAt: Date | null = slot) {
      await store.pool.query(
        `insert into ferry.schedule_slots (schedule, account, slot, done_at, outcome, retry_at)
         values ($1, $2, $3, $4, case when $4::timestamptz is not null then 'succeeded' end,
           case when $4::timestamptz is null then clock_timestamp() - interval '1 s' end)`,
        [nightly.schedule, nightly.account, slot, doneAt],
      )
    },
    async find() {
      const schedule = { ...nightly, timing, beginsAtOnce: true, retryAfterMs: [], skippedAgainAfterMs: null }
      const { due } = await finder.find([schedule])
      return due.map(({ slot }) => slot)
    },
  })
}

test('a time that is moved to earlier today is not caught up with if there was a snapshot since the time before it', async () => {
  await using store = await setup(11 * HOUR, 8 * HOUR)
  await store.addSlot(store.before)
  expect(await store.find()).toEqual([])
})

test('a time that is moved to later, and has passed today, is not caught up with either', async () => {
  await using store = await setup(8 * HOUR, 3 * HOUR)
  await store.addSlot(store.before)
  expect(await store.find()).toEqual([])
})

test('a night of which nothing was made is caught up with at the new time', async () => {
  await using store = await setup(11 * HOUR, 8 * HOUR)
  await store.addSlot(new Date(store.before.getTime() - 24 * HOUR))
  expect(await store.find()).toEqual([{ slot: store.after, trigger: 'catch-up' }])
})

test('a slot of the earlier time that failed is tried again', async () => {
  await using store = await setup(11 * HOUR, 8 * HOUR)
  await store.addSlot(store.before, null)
  expect(await store.find()).toEqual([{ slot: store.before, trigger: 'schedule' }])
})

test('a time that is missed later is caught up with, though the time was moved and a snapshot was taken by hand', async () => {
  await using store = await setup(11 * HOUR, 8 * HOUR)
  await store.addSlot(store.before)
  await store.pool.query(`update ferry.freshness_targets set night_since = now() - interval '1 day'`)
  const { now } = await readClock(store.pool)
  await store.addSlot(new Date(now.getTime() - 10 * HOUR))
  expect(await store.find()).toEqual([{ slot: store.after, trigger: 'catch-up' }])
})
