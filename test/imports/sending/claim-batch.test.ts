import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { acquireLease } from '#src/db/leases.ts'
import { type ClaimContext, claimBatch, newClaim, newPermit } from '#src/imports/sending/claims.ts'
import { reclaimImport } from '#src/imports/sending/reclaim.ts'
import { putBatches } from '#test/support/batches.ts'
import { expireLeases, holdLease } from '#test/support/leases.ts'
import { type StagedImport, stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

/*
 * One claim at a time, of imports as they may be found: what is claimed, and why nothing is.
 */

const WIDE = [{ maxCalls: 1_000, windowMs: 60_000 }]

/** An import that is running under a lease, with what is needed to claim of it. */
async function openRunning(store: TestStore, staged: StagedImport = {}, limitKey = 'account:default') {
  const id = await stageRows(store.pool, { status: 'running', ...staged })
  const lease = await holdLease(store.pool, `lease-${id}`)
  const context: ClaimContext = {
    account: 'default',
    pool: store.pool,
    importId: id,
    lease,
    limit: { limitKey, windows: WIDE },
    arrivalBoundMs: 5_000,
    claimMs: 60_000,
  }
  const set = (columns: string) => store.pool.query(`update ferry.imports set ${columns} where id = $1`, [id])
  return { id, context, set, claim: () => claimBatch(context, newClaim()) }
}

/** The lines of a claimed batch, or what was answered instead. */
async function linesOf(store: TestStore, claimed: Awaited<ReturnType<typeof claimBatch>>) {
  if (claimed.what !== 'claimed') return claimed.what
  const { rows } = await store.pool.query<{ lines: string }>(
    `select from_line || '-' || to_line as lines from ferry.import_batches where id = $1`,
    [claimed.claim.batchId],
  )
  return rows[0]!.lines
}

test('a lease that has run out claims nothing, though nobody else has it', async () => {
  await using store = await openTestStore()
  const running = await openRunning(store)
  await expireLeases(store.pool)
  expect(await running.claim()).toMatchObject({ what: 'lost' })
  expect((await store.pool.query('select from ferry.platform_calls')).rowCount).toBe(0)
})

test('while a claim is under way its lease is renewed, and nobody takes it over', async () => {
  await using store = await openTestStore()
  const log = pino({ level: 'silent' })
  const lease = await acquireLease(store.pool, 'the lease', 'this worker', log, 900)
  if ('heldBy' in lease) throw new Error(lease.heldBy)
  const running = await openRunning(store)
  const client = await store.pool.connect()
  const renewed = async () => {
    const { rows } = await store.pool.query<{ is: boolean }>(
      `select expires_at - acquired_at > interval '3 s' as is from ferry.leases where name = $1`,
      [lease.name],
    )
    return rows[0]?.is
  }
  try {
    await client.query('begin')
    await claimBatch({ ...running.context, pool: client as unknown as Pool, lease }, newClaim())
    await waitFor(renewed, { what: 'the lease to outlive three of its lives', timeoutMs: 30_000 })
    await expireLeases(store.pool)
    expect(await acquireLease(store.pool, lease.name, 'another', log)).toHaveProperty('heldBy')
  } finally {
    await client.query('rollback')
    client.release()
    await lease.release()
  }
})

test('a claim that was reclaimed meanwhile gets no other permit', async () => {
  await using store = await openTestStore()
  const running = await openRunning(store)
  const claimed = await running.claim()
  if (claimed.what !== 'claimed') throw new Error(claimed.what)
  await store.pool.query(`update ferry.import_batches set claim_ends_at = clock_timestamp() - interval '1 s'`)
  expect(await reclaimImport(store.pool, running.id)).toBe(1)
  expect(await claimBatch(running.context, newPermit(claimed.claim.claim))).toMatchObject({ what: 'lost' })
  expect(await claimBatch(running.context, newPermit(randomUUID()))).toMatchObject({ what: 'lost' })
  expect((await store.pool.query(`select from ferry.import_batches where state = 'ready'`)).rowCount).toBe(1)
})

test('the smallest batch goes first, of equal ones the first; after nine refusals in a row the largest', async () => {
  await using store = await openTestStore()
  const lines = [2, 3, 1, 3, 1]
  const first: Record<number, string> = { 0: '7-7', 8: '7-7', 9: '4-6', 11: '4-6' }
  for (const [unaccepted, expected] of Object.entries(first)) {
    const running = await openRunning(store, { rows: 10 })
    await putBatches(
      store.pool,
      running.id,
      lines.map(count => ({ lines: count })),
    )
    await running.set(`unaccepted = ${unaccepted}`)
    expect([unaccepted, await linesOf(store, await running.claim())]).toEqual([unaccepted, expected])
  }
})

test('a batch is split until what is sent of it fits; what is set aside of it is not sent', async () => {
  await using store = await openTestStore()
  const running = await openRunning(store, { rows: 8 })
  await putBatches(store.pool, running.id, [{ lines: 8 }])
  await store.pool.query(`update ferry.import_batches set set_aside = '{2,3,4}'`)
  await running.set('most_rows = 5')
  expect(await linesOf(store, await running.claim())).toBe('2-9')

  const other = await openRunning(store, { rows: 8, pageId: 2n })
  await putBatches(store.pool, other.id, [{ lines: 8 }])
  await other.set('most_rows = 3')
  expect(await linesOf(store, await other.claim())).toBe('2-3')
})

test('the first rows are those in batches and those rejected by the platform, halves of a split batch once', async () => {
  await using store = await openTestStore()
  const running = await openRunning(store, { rows: 20, firstRows: 9, batchRows: 4 })
  // Four lines in a batch that was split into two sent ones; of the lines before, two were rejected.
  await putBatches(store.pool, running.id, [
    { lines: 4, state: 'split' },
    { lines: 2, state: 'sent' },
    { lines: 2, state: 'sent' },
  ])
  await running.set('rejected_by_platform = 2')
  expect(await linesOf(store, await running.claim())).toBe('6-8')
  expect(await running.claim()).toEqual({ what: 'exhausted' })
})

test('while an import backs off nothing of it is claimed, new rows or ready ones', async () => {
  await using store = await openTestStore()
  const running = await openRunning(store, { rows: 10 })
  await running.set(`retry_at = clock_timestamp() + interval '10 minutes'`)
  const wait = await running.claim()
  if (wait.what !== 'wait') throw new Error(wait.what)
  expect(wait.waitMs).toBeGreaterThan(500_000)
  await putBatches(store.pool, running.id, [{ lines: 3 }])
  expect(await running.claim()).toMatchObject({ what: 'wait' })
  await running.set(`retry_at = clock_timestamp() - interval '1 s'`)
  expect(await linesOf(store, await running.claim())).toBe('2-4')
})

/** As if it had just been told to wait for this limit. */
const WANTS = (limit: string) =>
  `wants_at = clock_timestamp() + interval '1 minute', wants_limit = '${limit}'`

test('an import waits for one that has waited for the same limit and was served longer ago, and for no other', async () => {
  await using store = await openTestStore()
  const [first, second] = [await openRunning(store), await openRunning(store, { pageId: 2n })]
  await first.set(WANTS('account:default'))
  expect(await second.claim()).toMatchObject({ what: 'wait', pollSoon: true })
  expect((await store.pool.query('select from ferry.platform_calls')).rowCount).toBe(0)

  const others: Readonly<Record<string, string>> = {
    'of another limit': WANTS('account:another'),
    'that was served later': `${WANTS('account:default')}, served_at = clock_timestamp() + interval '1 hour'`,
    'that has given up': `wants_at = clock_timestamp() - interval '1 minute', wants_limit = 'account:default'`,
    'that backs off': `${WANTS('account:default')}, retry_at = clock_timestamp() + interval '1 hour'`,
    'that is paused': `${WANTS('account:default')}, status = 'paused'`,
  }
  for (const [which, columns] of Object.entries(others)) {
    await first.set(`served_at = null, retry_at = null, status = 'running'`)
    await first.set(columns)
    await second.set(`served_at = clock_timestamp()`)
    expect([which, (await second.claim()).what]).toEqual([which, 'claimed'])
    await store.pool.query(
      `update ferry.import_batches set state = 'ready', claim = null, claim_ends_at = null`,
    )
  }
  // Served once, the first is behind a second that never was.
  await first.set(
    `status = 'running', retry_at = null, ${WANTS('account:default')}, served_at = clock_timestamp()`,
  )
  await second.set('served_at = null')
  expect((await second.claim()).what).toBe('claimed')
})

test('one row is always enough for a call, however large; a batch ends before it is larger than a megabyte', async () => {
  await using store = await openTestStore()
  const recipient = (line: number) => `${line}${'x'.repeat(line === 2 ? 1_200_000 : 400_000)}`
  const running = await openRunning(store, { rows: 6, recipient })
  expect(await linesOf(store, await running.claim())).toBe('2-2')
  expect(await linesOf(store, await running.claim())).toBe('3-4')
})

test('a batch of rows that another import may have sent is called resent, as often as that', async () => {
  await using store = await openTestStore()
  const running = await openRunning(store, { rows: 6, batchRows: 3 })
  await store.pool.query('update ferry.import_recipients set maybe_sent = 2 where line = 3')
  await running.claim()
  await running.claim()
  const { rows } = await store.pool.query(
    'select from_line::int as line, resends from ferry.import_batches order by 1',
  )
  expect(rows).toEqual([
    { line: 2, resends: 2 },
    { line: 5, resends: 0 },
  ])
})
