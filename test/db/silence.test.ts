import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, inject, test } from 'vitest'
import { BinaryRows, rowStart } from '#src/db/binary-rows.ts'
import { createThrottle } from '#src/db/call-log.ts'
import { OpenCopy } from '#src/db/copy.ts'
import { OwnCall } from '#src/db/known-database.ts'
import { acquireLease, fenceWithLease } from '#src/db/leases.ts'
import { inTransaction, openDatabase } from '#src/db/pool.ts'
import { Secret } from '#src/model/secret.ts'
import { onServer, openTestDatabase } from '#test/support/database.ts'
import { leasesOf } from '#test/support/leases.ts'
import { openSilentProxy } from '#test/support/silent-proxy.ts'
import { waitFor } from '#test/support/wait-for.ts'

const log = pino({ level: 'silent' })
const NEVER = new AbortController().signal

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

test.concurrent('a short statement on a silent connection fails, and the next one has a new connection', async () => {
  await using harness = await setup()
  await harness.pool.query('select 1')
  failOver(harness.proxy)
  await expect(harness.pool.query('select 1')).rejects.toMatchObject({
    name: 'PostgresUnavailable',
    code: 'ETIMEDOUT',
  })
  await harness.pool.query('select 1')
})

test.concurrent('a silent connection whose process on the server is gone is cut too', async () => {
  await using harness = await setup()
  const { rows } = await harness.pool.query('select pg_backend_pid() as pid')
  failOver(harness.proxy)
  await harness.direct.query('select pg_terminate_backend($1, 5000)', [rows[0].pid])
  await expect(harness.pool.query('select 1')).rejects.toMatchObject({
    name: 'PostgresUnavailable',
    message: expect.stringContaining('went silent and was cut; the server is not working on it'),
  })
  await harness.pool.query('select 1')
})

test.concurrent('a transaction on a silent connection fails, and the server releases its locks', async () => {
  await using harness = await setup()
  const lease = await acquireLease(harness.pool, 'a', 'worker', log)
  if ('heldBy' in lease) throw new Error('held')
  const work = inTransaction(harness.pool, async client => {
    await fenceWithLease(client, lease)
    failOver(harness.proxy)
    await client.query('select 1')
  })
  await expect(work).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await waitFor(() => harness.direct.query('select from ferry.leases for update nowait'), {
    what: 'the server to release the lock',
  })
  await lease.release()
})

test.concurrent('a COPY in the middle of which the connection falls silent fails, and the server lets go of its locks', async () => {
  await using harness = await setup()
  await harness.direct.query('create table public.copied (line text)')
  const rows = new BinaryRows(1024)
  function* lines() {
    for (let n = 0; n < 400; n++) {
      if (n === 40) failOver(harness.proxy)
      rows.begin(rowStart(1))
      rows.text('x'.repeat(100_000))
      yield rows.take()
    }
  }
  const work = inTransaction(harness.pool, async client => {
    await client.query("insert into public.copied values ('before')")
    await new OpenCopy(client, 'public.copied').write(lines())
  })
  await expect(work).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await harness.direct.query("set lock_timeout = '5s'")
  await harness.direct.query('truncate public.copied')
})

test.concurrent('a caller that waits for a permit continues once the silent call ahead of it has failed', async () => {
  await using harness = await setup()
  const limit = { limitKey: 'a', windows: [{ maxCalls: 5, windowMs: 1_000 }] }
  const throttle = createThrottle(harness.pool, {
    limitOf: () => limit,
    arrivalBoundMs: 5_000,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
  })
  const call = { account: 'a', operation: 'list-alert-rules', runId: null } as const
  await throttle.acquirePermit(call, NEVER)
  failOver(harness.proxy)
  const permits = await Promise.all([
    throttle.acquirePermit(call, NEVER),
    throttle.acquirePermit(call, NEVER),
  ])
  expect(permits).toHaveLength(2)
})

test.concurrent('a lease is renewed by another connection when one falls silent', async () => {
  await using harness = await setup()
  const lease = await acquireLease(harness.pool, 'a', 'worker', log, { lifeMs: 6_000 })
  if ('heldBy' in lease) throw new Error('held')
  const expiry = async () => (await leasesOf(harness.direct))[0]!.expiresAt
  const first = await expiry()
  failOver(harness.proxy)
  await waitFor(async () => (await expiry()) > first, { what: 'a renewal' })
  expect(lease.signal.aborted).toBe(false)
  await lease.release()
})

test.concurrent('a long statement is not cut, and neither is one that waits for a lock', async () => {
  await using harness = await setup()
  await harness.direct.query('create table public.locked (line text)')
  await harness.direct.query('begin; lock table public.locked')
  // By the same connection, after a transaction whose facts say nothing of the statement.
  await inTransaction(harness.pool, client => client.query('select 1'))
  const sleeping = harness.pool.query("select pg_sleep(30), 'awake' as state")
  const waiting = inTransaction(harness.pool, async client => {
    await client.query("insert into public.locked values ('waited')")
    return 'waited'
  })
  expect((await sleeping).rows[0]).toMatchObject({ state: 'awake' })
  await harness.direct.query('commit')
  expect(await waiting).toBe('waited')
})

test.concurrent('a long statement is not cut where the password is not in the address: who asks the server has it too', async () => {
  const { serverUrl, superuserUrl } = inject('database')
  const role = `ferry_test_${randomBytes(4).toString('hex')}`
  await onServer(superuserUrl, `create role ${role} login password 'one'`)
  const url = Object.assign(new URL(serverUrl), { username: role, password: '', pathname: '/postgres' })
  {
    await using database = openDatabase(url.href, log, { secret: new Secret('one') })
    const { rows } = await database.pool.query("select pg_sleep(22), 'awake' as state")
    expect(rows[0]).toMatchObject({ state: 'awake' })
  }
  await onServer(superuserUrl, `drop role ${role}`)
})

test('a pool whose connections are silent closes, and its process ends', async () => {
  await using harness = await setup()
  await Promise.all([harness.pool.query('select pg_sleep(0.1)'), harness.pool.query('select pg_sleep(0.1)')])
  harness.proxy.fallSilent()
  const sockets = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
  const before = sockets()
  await harness.pool.end()
  await waitFor(() => sockets() <= before - 2, { what: 'the sockets to be closed' })
  harness.pool.end = async () => {}
})
