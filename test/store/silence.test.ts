import { Client } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { copyLines } from '#src/store/copy.ts'
import { inTransaction, openDatabase } from '#src/store/database.ts'
import { acquireLease, fenceWithLease } from '#src/store/leases.ts'
import { openThrottle } from '#src/store/throttle.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { openSilentProxy } from '#test/support/silent-proxy.ts'
import { waitFor } from '#test/support/wait-for.ts'

const log = pino({ level: 'silent' })
const NEVER = new AbortController().signal

/** Twice what is promised, for a busy machine. */
const PATIENT = { timeout: 120_000 }

/** A database, a pool that reaches it by a road that can fall silent, and a client that reaches it directly. */
async function setup() {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openTestDatabase())
  const proxy = opened.use(await openSilentProxy(database.url, 5432))
  const { pool } = opened.use(openDatabase(proxy.through(database.url), log))
  const direct = new Client({ connectionString: database.url })
  await direct.connect()
  opened.defer(() => direct.end())
  const kept = opened.move()
  return { pool, proxy, direct, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** What is open falls silent; new connections work at once, as after a failover. */
function failOver(proxy: Awaited<ReturnType<typeof openSilentProxy>>): void {
  proxy.fallSilent()
  proxy.recover()
}

test(
  'a short statement on a silent connection fails, and the next one has a new connection',
  PATIENT,
  async () => {
    await using room = await setup()
    await room.pool.query('select 1')
    failOver(room.proxy)
    await expect(room.pool.query('select 1')).rejects.toMatchObject({
      name: 'PostgresAway',
      code: 'ETIMEDOUT',
    })
    await room.pool.query('select 1')
  },
)

test('a transaction on a silent connection fails, and the server lets go of its locks', PATIENT, async () => {
  await using room = await setup()
  const lease = await acquireLease(room.pool, 'a', 'worker', log)
  if ('heldBy' in lease) throw new Error('held')
  const work = inTransaction(room.pool, async client => {
    await fenceWithLease(client, lease)
    failOver(room.proxy)
    await client.query('select 1')
  })
  await expect(work).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await room.direct.query('select from ferry.leases for update nowait')
  await lease.release()
})

test(
  'a COPY in the middle of which the connection falls silent fails, and the server lets go of its locks',
  PATIENT,
  async () => {
    await using room = await setup()
    await room.direct.query('create table public.copied (line text)')
    function* lines() {
      for (let n = 0; n < 400; n++) {
        if (n === 40) failOver(room.proxy)
        yield `${'x'.repeat(100_000)}\n`
      }
    }
    const work = inTransaction(room.pool, async client => {
      await client.query('insert into ferry.installation default values')
      await copyLines(client, 'public.copied', lines())
    })
    await expect(work).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await room.direct.query("set lock_timeout = '5s'")
    await room.direct.query('truncate public.copied')
  },
)

test('whoever waits in line for a slot goes on once the silent one ahead has failed', PATIENT, async () => {
  await using room = await setup()
  const limit = { limitKey: 'a', windows: [{ most: 5, windowMs: 1_000 }] }
  const throttle = openThrottle<string>(room.pool, { limitOf: () => limit, arrivalBoundMs: 5_000 })
  const call = { account: 'a', operation: 'list', runId: null }
  await throttle.take(call, NEVER)
  failOver(room.proxy)
  const slots = await Promise.all([throttle.take(call, NEVER), throttle.take(call, NEVER)])
  expect(slots).toHaveLength(2)
})

test('a lease is renewed by another connection when one falls silent', PATIENT, async () => {
  await using room = await setup()
  const lease = await acquireLease(room.pool, 'a', 'worker', log, 6_000)
  if ('heldBy' in lease) throw new Error('held')
  const expiry = async () =>
    (await room.direct.query('select expires_at from ferry.leases')).rows[0].expires_at
  const first = await expiry()
  failOver(room.proxy)
  await waitFor(async () => (await expiry()) > first, { what: 'a renewal', timeoutMs: 30_000 })
  expect(lease.signal.aborted).toBe(false)
  await lease.release()
})

test('a statement that takes long is left alone, and so is one that waits for a lock', PATIENT, async () => {
  await using room = await setup()
  await room.direct.query('begin; lock table ferry.installation')
  const sleeping = room.pool.query("select pg_sleep(30), 'awake' as state")
  const waiting = inTransaction(room.pool, async client => {
    await client.query("insert into ferry.installation default values returning 'waited' as state")
    return 'waited'
  })
  expect((await sleeping).rows[0]).toMatchObject({ state: 'awake' })
  await room.direct.query('commit')
  expect(await waiting).toBe('waited')
})

test('a pool whose connections are silent closes, and nothing keeps its process up', PATIENT, async () => {
  await using room = await setup()
  await Promise.all([room.pool.query('select pg_sleep(0.1)'), room.pool.query('select pg_sleep(0.1)')])
  room.proxy.fallSilent()
  const sockets = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
  const before = sockets()
  await room.pool.end()
  await waitFor(() => sockets() <= before - 2, { what: 'the sockets to be closed', timeoutMs: 20_000 })
  room.pool.end = async () => {}
})
