import { pino } from 'pino'
import { expect, test } from 'vitest'
import { inTransaction } from '#src/store/database.ts'
import { acquireLease, fenceWithLease, type Lease, LeaseLost } from '#src/store/leases.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const log = pino({ level: 'silent' })

async function acquired(store: Awaited<ReturnType<typeof openTestStore>>, holder: string): Promise<Lease> {
  const lease = await acquireLease(store.pool, 'sync:a:alert-rules', holder, log)
  if ('heldBy' in lease) throw new Error(`held by ${lease.heldBy}`)
  return lease
}

test('of many who ask at once exactly one gets the lease, and the others learn who has it', async () => {
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

test('a lease that ran out goes to the next, and the work of its old holder is refused', async () => {
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

test('nobody takes a lease over while its work is being applied, even if it runs out meanwhile', async () => {
  await using store = await openTestStore()
  const lease = await acquired(store, 'slow')
  const takeover = await inTransaction(store.pool, async client => {
    await fenceWithLease(client, lease)
    await client.query("update ferry.leases set expires_at = clock_timestamp() - interval '1 s'")
    const asked = acquireLease(store.pool, lease.name, 'impatient', log)
    const first = await Promise.race([
      asked,
      client.query('select pg_sleep(0.2)').then(() => 'still waiting'),
    ])
    expect(first).toBe('still waiting')
    return { asked }
  })
  const next = await takeover.asked
  expect('heldBy' in next).toBe(false)
  if (!('heldBy' in next)) await next.release()
  await lease.release()
})

test('a lease lives as long as was asked for, and is renewed in time', async () => {
  await using store = await openTestStore()
  const lease = await acquireLease(store.pool, 'short', 'worker', log, 300)
  if ('heldBy' in lease) throw new Error('held')
  const expiry = async () =>
    (await store.pool.query('select expires_at from ferry.leases')).rows[0].expires_at
  const first = await expiry()
  expect(first.getTime() - Date.now()).toBeLessThanOrEqual(300)
  await waitFor(async () => (await expiry()) > first, { what: 'the lease to be renewed', timeoutMs: 1_000 })
  expect(lease.signal.aborted).toBe(false)
  await lease.release()
})
