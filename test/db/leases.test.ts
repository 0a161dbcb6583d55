import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loadLeaseEnds, takeLease } from '#src/db/lease-rows.ts'
import { acquireLease, fenceWithLease, type Lease, LeaseLost } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { oldLeases } from '#src/db/prune.ts'
import { expireLeases, leasesOf, takeOverLeases } from '#test/support/leases.ts'
import { removeOld } from '#test/support/prune.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const log = pino({ level: 'silent' })

const expiryOf = async (store: TestStore) => (await leasesOf(store.pool))[0]!.expiresAt

async function acquired(store: TestStore, holder: string): Promise<Lease> {
  const lease = await acquireLease(store.pool, 'sync:a:alert-rules', holder, log)
  if ('heldBy' in lease) throw new Error(`held by ${lease.heldBy}`)
  return lease
}

test('of many workers that ask at once exactly one gets the lease, and the others learn which one has it', async () => {
  await using store = await openTestStore()
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => acquireLease(store.pool, 'sync:a:alert-rules', `worker ${n}`, log)),
  )
  const leases = answers.filter(answer => !('heldBy' in answer))
  expect(leases).toHaveLength(1)
  expect(answers.filter(answer => 'heldBy' in answer && answer.heldBy.startsWith('worker'))).toHaveLength(7)
  await (leases[0] as Lease).release()
  await (await acquired(store, 'next')).release()
})

test('an expired lease goes to the next, and the work of its old holder is refused', async () => {
  await using store = await openTestStore()
  const suspended = await acquired(store, 'suspended')
  await expireLeases(store.pool)
  const { rows: before } = await store.pool.query('select clock_timestamp()::text as now')
  const next = await acquired(store, 'next')
  const taken = 'select holder, acquired_at >= $1::timestamptz as is_since_then from ferry.leases'
  expect((await store.pool.query(taken, [before[0].now])).rows).toEqual([
    { holder: 'next', is_since_then: true },
  ])

  await expect(inTransaction(store.pool, client => fenceWithLease(client, suspended))).rejects.toThrow(
    LeaseLost,
  )
  await inTransaction(store.pool, client => fenceWithLease(client, next))
  await suspended.release()
  await inTransaction(store.pool, client => fenceWithLease(client, next))
  await next.release()
})

test('an expired lease does not let work be applied, even if nobody has taken it over', async () => {
  await using store = await openTestStore()
  const lease = await acquired(store, 'suspended')
  await expireLeases(store.pool)
  await expect(inTransaction(store.pool, client => fenceWithLease(client, lease))).rejects.toThrow(LeaseLost)
  await lease.release()
})

test('work that takes longer than its lease lives keeps it: it is not taken over', async () => {
  await using store = await openTestStore()
  const lifeMs = 2_000
  const lease = await acquireLease(store.pool, 'sync:a:alert-rules', 'slow', log, { lifeMs })
  if ('heldBy' in lease) throw new Error('held')
  await inTransaction(store.pool, async client => {
    await fenceWithLease(client, lease)
    await client.query('select pg_sleep($1)', [(4 * lifeMs) / 1000])
    expect(await leasesOf(store.pool)).toMatchObject([{ isOver: true }])
    expect(await acquireLease(store.pool, lease.name, 'impatient', log)).toEqual({ heldBy: 'slow' })
    expect(lease.signal.aborted).toBe(false)
    // Its own connection and one for whoever asks, not one more for each renewal that was due.
    expect(store.pool.totalCount).toBeLessThanOrEqual(3)
  })
  await lease.release()
})

test('a look at expired leases delays whoever asks for one no longer than the look takes', async () => {
  await using store = await openTestStore()
  const dead = await acquired(store, 'dead')
  await expireLeases(store.pool)
  let acquiring: Promise<Lease> | undefined
  await inTransaction(store.pool, async client => {
    await client.query('select from ferry.leases for key share')
    acquiring = acquired(store, 'next')
    await store.pool.query('select pg_sleep(0.05)') // by then it has met the lock
  })
  const next = await acquiring!
  await dead.release()
  await next.release()
})

test('a lease locked when it was to be renewed is renewed as soon as it is free', async () => {
  await using store = await openTestStore()
  const lease = await acquireLease(store.pool, 'short', 'worker', log, { lifeMs: 3_000 })
  if ('heldBy' in lease) throw new Error('held')
  const expiry = () => expiryOf(store)
  const first = await expiry()
  await inTransaction(store.pool, async client => {
    await client.query('select from ferry.leases for share')
    await client.query('select pg_sleep(1.5)')
    expect(await expiry()).toEqual(first)
  })
  await waitFor(async () => (await expiry()) > first, { what: 'the lease to be renewed' })
  expect(lease.signal.aborted).toBe(false)
  await lease.release()
})

test('the holder of a lease learns that another worker has it', async () => {
  await using store = await openTestStore()
  const lease = await acquireLease(store.pool, 'short', 'worker', log, { lifeMs: 300 })
  if ('heldBy' in lease) throw new Error('held')
  await takeOverLeases(store.pool)
  await waitFor(() => lease.signal.aborted, { what: 'the lease to be lost' })
  expect(lease.signal.reason).toBeInstanceOf(LeaseLost)
  await lease.release()
})

test('a lease lives as long as was asked for, and is renewed in time', async () => {
  await using store = await openTestStore()
  const lease = await acquireLease(store.pool, 'short', 'worker', log, { lifeMs: 3_000 })
  if ('heldBy' in lease) throw new Error('held')
  const expiry = () => expiryOf(store)
  const first = await expiry()
  expect(first.getTime() - Date.now()).toBeLessThanOrEqual(3_000)
  await waitFor(async () => (await expiry()) > first, { what: 'the lease to be renewed' })
  expect(lease.signal.aborted).toBe(false)
  await lease.release()
})

test('leases that expired more than a day ago are removed, and no others', async () => {
  await using store = await openTestStore()
  const held = await acquired(store, 'worker')
  for (const [name, hoursAgo] of [
    ['old', 25],
    ['young', 23],
  ] as const) {
    await takeLease(store.pool, name, crypto.randomUUID(), 'dead', -hoursAgo * 3_600_000)
  }
  expect(await removeOld(oldLeases(store.pool))).toBe(1)
  expect((await leasesOf(store.pool)).map(({ name }) => name)).toEqual([held.name, 'young'])
  await held.release()
})

test('when leases end is told in milliseconds, also of those that are over, and of nobody else', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const HOUR_MS = 3_600_000
  const ends = { long: 2 * HOUR_MS, over: -HOUR_MS, 'not asked for': HOUR_MS }
  for (const [name, lifeMs] of Object.entries(ends))
    await takeLease(pool, name, crypto.randomUUID(), 'worker', lifeMs)
  const about = (ms: number) => expect.toSatisfy((value: number) => value <= ms && value > ms - HOUR_MS / 2)
  expect(await loadLeaseEnds(pool, ['long', 'over', 'nobody'])).toEqual(
    new Map([
      ['long', about(ends.long)],
      ['over', about(ends.over)],
    ]),
  )
  expect(await loadLeaseEnds(pool, [])).toEqual(new Map())
})

test('a lease that can neither be renewed nor given up is logged with the reason, and fails nobody', async () => {
  await using store = await openTestStore()
  const lines: unknown[] = []
  const told = pino(
    { level: 'debug', base: null, timestamp: false },
    { write: line => lines.push(JSON.parse(line)) },
  )
  const lease = await acquireLease(store.pool, 'short', 'worker', told, { lifeMs: 600 })
  if ('heldBy' in lease) throw new Error('held')
  await store.pool.query('alter table ferry.leases rename to gone')
  await waitFor(() => lines.length > 0, { what: 'the renewal to fail' })
  const about = { level: 40, error: 'relation "ferry.leases" does not exist', lease: 'short' }
  expect(lines[0]).toEqual({ ...about, msg: 'A lease could not be renewed.' })
  await lease.release()
  expect(lines.at(-1)).toEqual({ ...about, msg: 'A lease could not be given up; it expires by itself.' })
  expect(lease.signal.aborted).toBe(false)
})
