import type { Pool, PoolClient } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { pauseSchedules, resumeSchedules } from '#src/schedules/control.ts'
import { addFirstSlot } from '#src/schedules/find-due.ts'
import { takeSlot } from '#src/schedules/slot-lease.ts'
import { ADA } from '#test/support/acted-by.ts'
import { leasesOf } from '#test/support/leases.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { endSlotPauses, listSlots } from '#test/support/slots.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

/*
 * Two transactions at once: the other one is held open until the work waits for it, or has ended without waiting, and is
 * committed then. What it wrote counts.
 */

const KEY = { schedule: 'poll', account: 'default' }
const NOON = new Date('2026-11-20T12:00:00Z')
const BEFORE_NOON = new Date('2026-11-20T11:59:00Z')
const IS_SLOT = 'schedule = $1 and account = $2 and slot = $3'

const take = ({ pool }: TestStore, slot = NOON) =>
  takeSlot({ pool, holder: 'test', log: pino({ level: 'silent' }) }, KEY, slot, { evenIfPaused: false })

/** Runs `work` while `other` has written and not committed yet. Returns what `work` returned, and whether it waited. */
async function whileOpen<T>(
  pool: Pool,
  other: (client: PoolClient) => Promise<unknown>,
  work: () => Promise<T>,
) {
  const client = await pool.connect()
  await client.query('begin')
  await other(client)
  let isDone = false
  const working = work().finally(() => {
    isDone = true
  })
  let waited = false
  await waitFor(
    async () => {
      waited ||= ((await pool.query(WAITING_FOR_LOCK)).rowCount ?? 0) > 0
      return waited || isDone
    },
    { what: 'the work to wait, or to end' },
  )
  await client.query('commit')
  client.release()
  return { result: await working, waited }
}

test('of two workers that record the first slot of a schedule, the second sees that of the first', async () => {
  await using store = await openTestStore()
  await loadInstallation(store.pool)
  const { result, waited } = await whileOpen(
    store.pool,
    async client => {
      await client.query('select from ferry.installation for update')
      await client.query(
        'insert into ferry.schedule_slots (schedule, account, slot, retry_at) values ($1, $2, $3, clock_timestamp())',
        [KEY.schedule, KEY.account, NOON],
      )
    },
    () => addFirstSlot(store.pool, KEY),
  )
  expect({ result, waited }).toEqual({ result: null, waited: true })
  expect(await listSlots(store.pool)).toMatchObject([{ slot: NOON }])
})

test('a slot that another worker is just taking without a lease is not taken, and its attempt is not counted twice', async () => {
  await using store = await openTestStore()
  await (await take(store))!.end({ to: 'retry after a failure', afterMs: 0 })
  const { result, waited } = await whileOpen(
    store.pool,
    client =>
      client.query(
        `update ferry.schedule_slots set attempts = 2, retry_at = clock_timestamp() + interval '1 min' where ${IS_SLOT}`,
        [KEY.schedule, KEY.account, NOON],
      ),
    () => take(store),
  )
  expect({ result, waited }).toEqual({ result: null, waited: true })
  expect(await listSlots(store.pool)).toMatchObject([{ attempts: 2 }])
  expect(await leasesOf(store.pool)).toEqual([])
})

test('work that succeeded does not close an older slot that another worker is just taking', async () => {
  await using store = await openTestStore()
  await (await take(store, BEFORE_NOON))!.end({ to: 'retry after a failure', afterMs: 0 })
  await endSlotPauses(store.pool)
  const newest = await take(store)
  const { waited } = await whileOpen(
    store.pool,
    client =>
      client.query(
        `update ferry.schedule_slots set attempts = 2, retry_at = clock_timestamp() + interval '1 min' where ${IS_SLOT}`,
        [KEY.schedule, KEY.account, BEFORE_NOON],
      ),
    () => newest!.end({ to: 'done', outcome: 'succeeded', supersedes: true }),
  )
  expect(waited).toBe(true)
  expect((await listSlots(store.pool)).map(({ outcome }) => outcome)).toEqual([null, 'succeeded'])
})

test.for(['done', 'give back'] as const)(
  'a worker whose slot is just being taken over changes nothing: %s',
  async how => {
    await using store = await openTestStore()
    const lease = await take(store)
    const { waited } = await whileOpen(
      store.pool,
      client => client.query(`update ferry.leases set token = gen_random_uuid(), holder = 'another'`),
      () =>
        how === 'done'
          ? lease!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
          : lease!.end({ to: 'give back' }),
    )
    expect(waited).toBe(true)
    expect(await listSlots(store.pool)).toMatchObject([{ attempts: 1, done_at: null, outcome: null }])
    expect((await store.pool.query('select holder from ferry.leases')).rows).toEqual([{ holder: 'another' }])
  },
)

test('of two people who pause a schedule at once, the second one pauses nothing; so with resuming', async () => {
  await using store = await openTestStore()
  const acts = async () =>
    (await store.pool.query('select actor, action from ferry.audit order by id')).rows.map(
      row => `${row.actor} ${row.action}`,
    )
  const pausing = await whileOpen(
    store.pool,
    client =>
      client.query('insert into ferry.schedule_pauses (schedule, account) values ($1, $2)', [
        KEY.schedule,
        KEY.account,
      ]),
    () => pauseSchedules(store.pool, [KEY], ADA),
  )
  expect(pausing.waited).toBe(true)
  expect(await acts()).toEqual([])
  const resuming = await whileOpen(
    store.pool,
    client => client.query('delete from ferry.schedule_pauses'),
    () => resumeSchedules(store.pool, [KEY], ADA),
  )
  expect(resuming).toEqual({ result: [], waited: true })
  expect(await acts()).toEqual([])
})

test('a schedule that is paused, resumed and paused again is recorded each time, and paused in the end', async () => {
  await using store = await openTestStore()
  for (const _ of [1, 2]) {
    await pauseSchedules(store.pool, [KEY], ADA)
    await pauseSchedules(store.pool, [KEY], ADA)
    expect(await take(store)).toBeNull()
    expect(await resumeSchedules(store.pool, [KEY], ADA)).toEqual([KEY])
    expect(await resumeSchedules(store.pool, [KEY], ADA)).toEqual([])
  }
  await pauseSchedules(store.pool, [KEY], ADA)
  expect(await take(store)).toBeNull()
  const { rows } = await store.pool.query('select action from ferry.audit order by id')
  expect(rows.map(row => row.action)).toEqual(['pause', 'resume', 'pause', 'resume', 'pause'])
})
