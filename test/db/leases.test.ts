import { pino } from 'pino'
import { expect, test } from 'vitest'
import { pruneLeases } from '#src/db/lease-rows.ts'
import { acquireLease, fenceWithLease, type Lease, LeaseLost } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { startImport } from '#src/imports/sending/start.ts'
import { finishRun, type NewRun, NOTHING_DONE, startRun } from '#src/inventory/ledger.ts'
import { failLostRuns } from '#src/inventory/lost-runs.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const log = pino({ level: 'silent' })

const RUN: NewRun = {
  account: 'a',
  resource: 'alert-rules',
  trigger: 'manual',
  slot: null,
  scope: { folders: ['0'], includeAccount: null, keyHash: 'x' },
  guard: '10,20%',
  fingerprintVersion: 1,
}

async function acquired(store: Awaited<ReturnType<typeof openTestStore>>, holder: string): Promise<Lease> {
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
  await store.pool.query("update ferry.leases set expires_at = clock_timestamp() - interval '1 s'")
  const next = await acquired(store, 'next')

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
  await store.pool.query("update ferry.leases set expires_at = clock_timestamp() - interval '1 s'")
  await expect(inTransaction(store.pool, client => fenceWithLease(client, lease))).rejects.toThrow(LeaseLost)
  await lease.release()
})

test('work that takes longer than its lease lives keeps it: it is not taken over, and the run is not called lost', async () => {
  await using store = await openTestStore()
  const lifeMs = 2_000
  const lease = await acquireLease(store.pool, 'sync:a:alert-rules', 'slow', log, lifeMs)
  if ('heldBy' in lease) throw new Error('held')
  const run = await startRun(store.pool, RUN, lease)

  await inTransaction(store.pool, async client => {
    await fenceWithLease(client, lease)
    await client.query('select pg_sleep($1)', [(4 * lifeMs) / 1000])
    const { rows } = await store.pool.query(
      'select expires_at < clock_timestamp() as is_over from ferry.leases',
    )
    expect(rows).toEqual([{ is_over: true }])
    expect(await acquireLease(store.pool, lease.name, 'impatient', log)).toEqual({ heldBy: 'slow' })
    expect(await failLostRuns(store.pool)).toEqual([])
    expect(lease.signal.aborted).toBe(false)
    // Its own connection and one for whoever asks, not one more for each renewal that was due.
    expect(store.pool.totalCount).toBeLessThanOrEqual(3)
    expect(await finishRun(client, run, { ...NOTHING_DONE, status: 'succeeded' })).toBe(true)
  })
  await lease.release()
})

test('an expired lease without work under way is taken over, and its run called lost', async () => {
  await using store = await openTestStore()
  const dead = await acquired(store, 'dead')
  await startRun(store.pool, RUN, dead)
  expect(await failLostRuns(store.pool)).toEqual([])
  await store.pool.query("update ferry.leases set expires_at = clock_timestamp() - interval '1 min'")
  expect(await failLostRuns(store.pool)).toMatchObject([{ account: 'a', resource: 'alert-rules' }])
  await (await acquired(store, 'next')).release()
  await dead.release()
})

test('a worker that was suspended has its lease again if nobody took it over, and its run is not called lost', async () => {
  await using store = await openTestStore()
  const lease = await acquireLease(store.pool, 'sync:a:alert-rules', 'worker', log, 3_000)
  if ('heldBy' in lease) throw new Error('held')
  await startRun(store.pool, RUN, lease)
  await store.pool.query("update ferry.leases set expires_at = clock_timestamp() - interval '2 s'")
  expect(await failLostRuns(store.pool)).toEqual([])
  const renewed = async () =>
    (await store.pool.query('select from ferry.leases where expires_at > clock_timestamp()')).rowCount === 1
  await waitFor(renewed, { what: 'the lease to be renewed', timeoutMs: 20_000 })
  await inTransaction(store.pool, client => fenceWithLease(client, lease))
  expect(lease.signal.aborted).toBe(false)
  await lease.release()
})

test('a run whose lease has another holder is called lost', async () => {
  await using store = await openTestStore()
  const first = await acquired(store, 'first')
  await startRun(store.pool, RUN, first)
  await store.pool.query('update ferry.leases set token = gen_random_uuid()')
  expect(await failLostRuns(store.pool)).toHaveLength(1)
  await first.release()
})

test('looking for lost runs delays whoever asks for a free lease no longer than the look takes', async () => {
  await using store = await openTestStore()
  const dead = await acquired(store, 'dead')
  await store.pool.query("update ferry.leases set expires_at = clock_timestamp() - interval '1 s'")
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
  const lease = await acquireLease(store.pool, 'short', 'worker', log, 3_000)
  if ('heldBy' in lease) throw new Error('held')
  const expiry = async () =>
    (await store.pool.query('select expires_at from ferry.leases')).rows[0].expires_at
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
  const lease = await acquireLease(store.pool, 'short', 'worker', log, 300)
  if ('heldBy' in lease) throw new Error('held')
  await store.pool.query('update ferry.leases set token = gen_random_uuid()')
  await waitFor(() => lease.signal.aborted, { what: 'the lease to be lost' })
  expect(lease.signal.reason).toBeInstanceOf(LeaseLost)
  await lease.release()
})

test('a lease lives as long as was asked for, and is renewed in time', async () => {
  await using store = await openTestStore()
  const lease = await acquireLease(store.pool, 'short', 'worker', log, 3_000)
  if ('heldBy' in lease) throw new Error('held')
  const expiry = async () =>
    (await store.pool.query('select expires_at from ferry.leases')).rows[0].expires_at
  const first = await expiry()
  expect(first.getTime() - Date.now()).toBeLessThanOrEqual(3_000)
  await waitFor(async () => (await expiry()) > first, { what: 'the lease to be renewed', timeoutMs: 20_000 })
  expect(lease.signal.aborted).toBe(false)
  await lease.release()
})

test('leases that expired more than a day ago are removed, and no others', async () => {
  await using store = await openTestStore()
  const held = await acquired(store, 'worker')
  await store.pool.query(
    `insert into ferry.leases select name, gen_random_uuid(), 'dead', now(), now() - age
     from (values ('old', interval '25 hours'), ('young', interval '23 hours')) as dead (name, age)`,
  )
  expect(await pruneLeases(store.pool)).toBe(1)
  const { rows } = await store.pool.query('select name from ferry.leases order by name')
  expect(rows).toEqual([{ name: held.name }, { name: 'young' }])
  await held.release()
})

test.each([
  ['expired', "expires_at = clock_timestamp() - interval '1 s'"],
  ['has another holder', 'token = gen_random_uuid()'],
])('an import is not begun once its lease %s', async (_, change) => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool)
  const lease = await acquired(store, 'suspended')
  await store.pool.query(`update ferry.leases set ${change}`)
  await expect(startImport(store.pool, id, lease, new AbortController().signal)).rejects.toThrow(LeaseLost)
  expect((await store.pool.query('select status from ferry.imports')).rows).toEqual([{ status: 'queued' }])
  await lease.release()
})
