import { pino } from 'pino'
import { expect, test } from 'vitest'
import { OpenCopy } from '#src/db/copy.ts'
import { acquireLease, fenceWithLease, type Lease } from '#src/db/leases.ts'
import { listCallLog } from '#src/db/list-calls.ts'
import { inTransaction } from '#src/db/pool.ts'
import { WORKER_LOST } from '#src/inventory/messages.ts'
import { finishRun, NOTHING_DONE, startRun } from '#src/inventory/runs/ledger.ts'
import { failLostRuns, failRunsBefore, leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import { expireLeases, leasesOf, takeOverLeases } from '#test/support/leases.ts'
import { NEW_RUN } from '#test/support/runs.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const log = pino({ level: 'silent' })

const OTHER_RUN = { ...NEW_RUN, resource: 'mcp-servers' } as const

/** The lease of the inventory of `NEW_RUN`. */
async function acquired(store: TestStore, holder: string, lifeMs?: number): Promise<Lease> {
  const lease = await acquireLease(store.pool, leaseNameOf(NEW_RUN), holder, log, { lifeMs })
  if ('heldBy' in lease) throw new Error(`held by ${lease.heldBy}`)
  return lease
}

test('an expired lease without work under way is taken over, and its run called lost', async () => {
  await using store = await openTestStore()
  const dead = await acquired(store, 'dead')
  await startRun(store.pool, NEW_RUN, dead)
  expect(await failLostRuns(store.pool)).toEqual([])
  // A worker that was suspended has half a minute to renew it.
  await expireLeases(store.pool, 20_000)
  expect(await failLostRuns(store.pool)).toEqual([])
  await expireLeases(store.pool, 31_000)
  expect(await failLostRuns(store.pool)).toMatchObject([
    { account: NEW_RUN.account, resource: NEW_RUN.resource },
  ])
  const { rows } = await store.pool.query(
    'select status, error_code, message, finished_at is null as runs from ferry.sync_runs',
  )
  expect(rows).toEqual([
    { status: 'failed', error_code: WORKER_LOST.errorCode, message: WORKER_LOST.message, runs: false },
  ])
  await (await acquired(store, 'next')).release()
  await dead.release()
})

test('a worker that was suspended has its lease again if nobody took it over, and its run is not called lost', async () => {
  await using store = await openTestStore()
  const lease = await acquired(store, 'worker', 3_000)
  await startRun(store.pool, NEW_RUN, lease)
  await expireLeases(store.pool, 2_000)
  expect(await failLostRuns(store.pool)).toEqual([])
  const renewed = async () => (await leasesOf(store.pool)).some(({ isOver }) => !isOver)
  await waitFor(renewed, { what: 'the lease to be renewed' })
  await inTransaction(store.pool, client => fenceWithLease(client, lease))
  expect(lease.signal.aborted).toBe(false)
  await lease.release()
})

test('the calls that a lost run was waiting for are found among those without an answer, and no others', async () => {
  for (const end of ['reconciled', 'taken over']) {
    await using store = await openTestStore()
    const dead = await acquired(store, 'dead')
    const [lost, other] = [
      await startRun(store.pool, NEW_RUN, dead),
      await startRun(store.pool, OTHER_RUN, dead),
    ]
    await store.pool.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, run_id) values
         ('a', 'default', 'list-alert-rules', now(), now(), null, $1), ('a', 'default', 'list-alert-rules', now(), now(), now(), $1),
         ('a', 'default', 'list-mcp-servers', now(), now(), null, $2)`,
      [lost, other],
    )
    await store.pool.query('update ferry.sync_runs set finished_at = now() where id = $1', [other])
    await expireLeases(store.pool, 60_000)
    if (end === 'reconciled') expect(await failLostRuns(store.pool)).toHaveLength(1)
    else await failRunsBefore(store.pool, NEW_RUN, '00000000-0000-4000-8000-000000000001')
    const { calls } = await listCallLog(store.pool, 9, { refused: true })
    expect(calls).toMatchObject([{ errorCode: 'WorkerLost', finished: null, run: `${lost}` }])
    await dead.release()
  }
})

test('a run whose lease has another holder is called lost', async () => {
  await using store = await openTestStore()
  const first = await acquired(store, 'first')
  await startRun(store.pool, NEW_RUN, first)
  await takeOverLeases(store.pool)
  expect(await failLostRuns(store.pool)).toHaveLength(1)
  await first.release()
})

test('a run whose lease expired while it was being applied is not called lost', async () => {
  await using store = await openTestStore()
  const lease = await acquired(store, 'slow')
  const run = await startRun(store.pool, NEW_RUN, lease)
  await expireLeases(store.pool, 60_000)
  await inTransaction(store.pool, async client => {
    await client.query('select from ferry.leases for update')
    expect(await failLostRuns(store.pool)).toEqual([])
    expect(await finishRun(client, run, { ...NOTHING_DONE, status: 'succeeded' })).toBe(true)
  })
  await lease.release()
})

test('a worker that was suspended in the middle of a COPY of versions lets go of its locks, one of other rows goes on', async () => {
  await using store = await openTestStore()
  const lease = await acquired(store, 'suspended')
  await startRun(store.pool, NEW_RUN, lease)
  const copies = [
    'ferry.alert_rule_versions (account)',
    'ferry.mcp_server_versions (account)',
    'ferry.leases (name)',
  ]
  const clients = await Promise.all(copies.map(() => store.pool.connect()))
  await using ends = new AsyncDisposableStack()
  for (const client of clients) {
    client.on('error', () => {})
    ends.defer(async () => client.release(true))
  }
  for (const client of clients) await client.query('begin')
  const open = clients.map((client, n) => new OpenCopy(client, copies[n]!))
  const waiting = async () => {
    const { rows } = await store.pool.query(
      "select query from pg_stat_activity where datname = current_database() and wait_event = 'ClientRead' and state = 'active'",
    )
    return rows.map(({ query }) => query.split(' ')[1]).sort()
  }
  const tables = copies.map(copy => copy.split(' ')[0])
  await waitFor(async () => (await waiting()).length === 3, { what: 'all to wait for lines' })
  await failLostRuns(store.pool)
  expect(await waiting()).toEqual(tables.toSorted())
  await failLostRuns(store.pool, 0)
  await waitFor(async () => (await waiting()).length === 1, { what: 'the versions to be given up' })
  expect(await waiting()).toEqual(['ferry.leases'])
  await open[2]!.end()
  await lease.release()
})
