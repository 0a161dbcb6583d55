import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { pauseSchedules, resumeSchedules } from '#src/schedules/control.ts'
import { addFirstSlot, DueFinder } from '#src/schedules/find-due.ts'
import { ADA } from '#test/support/acted-by.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const KEY = { schedule: 'nightly', account: 'a' }
const NIGHTLY = {
  ...KEY,
  timing: { cron: '0 0 1 1 *', timezone: 'UTC' },
  beginsAtOnce: true,
  retryAfterMs: [],
  skippedAgainAfterMs: null,
}

test('who adds the first slot waits for another worker that does, and adds none then', async () => {
  await using store = await openTestStore()
  await loadInstallation(store.pool)
  const other = await store.openPool().connect()
  await other.query('begin; select from ferry.installation for update')
  const adding = addFirstSlot(store.pool, KEY)
  await waitFor(async () => ((await store.pool.query(WAITING_FOR_LOCK)).rowCount ?? 0) > 0, {
    what: 'it to wait',
  })
  await other.query(
    `insert into ferry.schedule_slots (account, schedule, slot) values ('a', 'nightly', now() - interval '1 s')`,
  )
  await other.query('commit')
  other.release()
  expect(await adding).toBeNull()
  expect(await addFirstSlot(store.pool, { ...KEY, account: 'b' })).toEqual(expect.any(Date))
})

test('a schedule that begins at once does not while it is paused, and does once it is resumed', async () => {
  await using store = await openTestStore()
  await loadInstallation(store.pool)
  const log = pino({ level: 'silent' })
  const dueFinder = new DueFinder({ pool: store.pool, log, catchUpMs: 0, installedAt: new Date() })
  await pauseSchedules(store.pool, [KEY], ADA)
  expect((await dueFinder.find([NIGHTLY])).due).toEqual([])
  await resumeSchedules(store.pool, [KEY], ADA)
  expect((await dueFinder.find([NIGHTLY])).due).toMatchObject([{ slot: { trigger: 'schedule' } }])
})
