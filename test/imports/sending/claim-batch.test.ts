import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { acquireLease } from '#src/db/leases.ts'
import { pauseImport } from '#src/imports/control/decide.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { claimBatch, newClaim, newPermit, returnPermit } from '#src/imports/sending/claims.ts'
import { reclaimExpired } from '#src/imports/sending/reclaim.ts'
import type { Permit } from '#src/model/call.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { expireLeases } from '#test/support/leases.ts'
import {
  ACCEPTED,
  BAD_ROWS,
  LOST,
  naming,
  openScriptedWorker,
  refused,
  sendBatches,
  TOO_LARGE,
  UNAVAILABLE,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openClaimer } from './open-claimer.ts'

/*
 * One claim at a time, of imports as they may be found: what is claimed, and why nothing is.
 */

/** How many calls have a permit. */
const callsOf = async (store: TestStore) =>
  (await store.pool.query('select from ferry.platform_calls')).rowCount

test('a lease that has run out claims nothing, though nobody else has it', async () => {
  await using store = await openTestStore()
  const claimer = await openClaimer(store)
  await expireLeases(store.pool)
  expect(await claimer.claim()).toMatchObject({ what: 'lost' })
  expect(await callsOf(store)).toBe(0)
})

test('a claim lives for as long as was asked for, whether its batch is new or was there before', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await using worker = await openScriptedWorker(store.pool, id, { claimMs: 12_345 })
  const batches = async () =>
    (
      await store.pool.query(
        'select from_line, to_line, rows, state, (claim_ends_at - claimed_at)::text as life from ferry.import_batches',
      )
    ).rows
  const claimed = [{ from_line: '2', to_line: '4', rows: 3, state: 'in flight', life: '00:00:12.345' }]
  const claim = await worker.claim()
  expect(await batches()).toEqual(claimed)
  await worker.release(claim)
  await worker.claim()
  expect(await batches()).toEqual(claimed)
})

test('while a claim is under way its lease is renewed, and nobody takes it over', async () => {
  await using store = await openTestStore()
  const log = pino({ level: 'silent' })
  const lease = await acquireLease(store.pool, 'the lease', 'this worker', log, { lifeMs: 900 })
  if ('heldBy' in lease) throw new Error(lease.heldBy)
  const claimer = await openClaimer(store)
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
    await claimBatch({ ...claimer.context, pool: client as unknown as Pool, lease }, newClaim())
    await waitFor(renewed, { what: 'the lease to outlive three of its lives' })
    await expireLeases(store.pool)
    expect(await acquireLease(store.pool, lease.name, 'another', log)).toHaveProperty('heldBy')
  } finally {
    await client.query('rollback')
    client.release()
    await lease.release()
  }
})

test('a permit is as old as the moment before it was first asked for, however often it is asked for', async () => {
  await using store = await openTestStore()
  const { context } = await openClaimer(store)
  const permitOf = async () => {
    const { rows } = await store.pool.query('select id::int8, call_id::int8 from ferry.import_batches')
    return { batchId: BigInt(rows[0].id), callId: BigInt(rows[0].call_id) }
  }
  const askedAt = { monotonicMs: -7_000, wallMs: 5 }
  const call = { account: 'default', operation: 'import-subscribers', runId: null }
  const request = { ...newClaim(), askedAt }
  const first = await claimBatch(context, request)
  const { batchId, callId } = await permitOf()
  const claim = { batchId, claim: request.claim, permit: { callId, call, askedAt } }
  expect(first).toEqual({ what: 'claimed', claim })
  expect(await claimBatch(context, request)).toEqual(first)

  await returnPermit(context, request.claim, claim.permit as Permit)
  const later = { monotonicMs: -3_000, wallMs: 6 }
  const second = await claimBatch(context, { ...newPermit(request.claim), askedAt: later })
  const permit = { callId: (await permitOf()).callId, call, askedAt: later }
  expect(second).toEqual({ what: 'claimed', claim: { ...claim, permit } })
  expect(permit.callId).not.toBe(callId)
})

test('a claim that was reclaimed meanwhile gets no other permit', async () => {
  await using store = await openTestStore()
  const claimer = await openClaimer(store)
  const claim = await claimer.worker.claim()
  await ageImport(store.pool, claimer.id, '1 hour')
  expect(await reclaimExpired(store.pool)).toBe(1)
  expect(await claimBatch(claimer.context, newPermit(claim.claim))).toMatchObject({ what: 'lost' })
  expect(await claimBatch(claimer.context, newPermit(randomUUID()))).toMatchObject({ what: 'lost' })
  const { batches } = await reportImport(store.pool, claimer.id)
  expect(batches.map(batch => batch.state)).toEqual(['ready'])
})

test('the smallest batch goes first, of equal ones the first; after nine refusals in a row the largest', async () => {
  await using store = await openTestStore()
  const claimer = await openClaimer(store, { rows: 64 })
  const refused = []
  for (let n = 0; n < 11; n++) refused.push(await claimer.send(BAD_ROWS))
  expect(refused.slice(0, 9)).toEqual([
    ...['2-65', '2-33', '2-17', '2-9', '2-5', '2-3'],
    // A single row that is refused is not tried again now.
    ...['2-2', '3-3'],
    '4-5',
  ])
  expect(refused.slice(9)).toEqual(['34-65', '18-33'])
  // Of 34-49 and 50-65; then a call was accepted: the single rows are tried once more, as the smallest again.
  expect(await claimer.send(ACCEPTED)).toBe('34-49')
  for (const lines of ['2-2', '3-3', '4-4']) expect(await claimer.claimLines()).toBe(lines)
})

test('a batch is split until what is sent of it fits; what is set aside of it is not sent', async () => {
  await using store = await openTestStore()
  const { worker, ...claimer } = await openClaimer(store, { rows: 18, batchRows: 10 })
  const [ten, eight] = [await worker.claim(), await worker.claim()]
  await worker.send(eight, naming('p13@example.com', 'p14@example.com', 'p15@example.com'))
  await worker.send(ten, TOO_LARGE)
  expect([await claimer.claimLines(), await claimer.claimLines()]).toEqual(['2-6', '7-11'])
  // Of its eight rows five are sent.
  expect(await claimer.claimLines()).toBe('12-19')

  const other = await openClaimer(store, { rows: 15, batchRows: 8, pageId: 2n })
  const [first, seven] = [await other.worker.claim(), await other.worker.claim()]
  await other.worker.release(seven)
  await other.worker.send(first, TOO_LARGE)
  expect(await other.send(TOO_LARGE)).toBe('2-5')
  const claimed = []
  for (let n = 0; n < 6; n++) claimed.push(await other.claimLines())
  expect(claimed).toEqual(['2-3', '4-5', '6-7', '8-9', '10-10', '11-12'])
})

test('the first rows are those in batches and those rejected by the platform, halves of a split batch once', async () => {
  await using store = await openTestStore()
  const claimer = await openClaimer(store, { rows: 20, firstRows: 9, batchRows: 4 })
  // Four rows in a batch that is split into two: one half is sent, the other but for one row.
  expect(await claimer.send(BAD_ROWS)).toBe('2-5')
  expect(await claimer.send(ACCEPTED)).toBe('2-3')
  expect(await claimer.send(naming('p4@example.com'))).toBe('4-5')
  expect(await claimer.send(ACCEPTED)).toBe('4-5')
  expect(await loadSummary(store.pool, claimer.id)).toMatchObject({ sent: 3, rejected: 1 })
  expect([await claimer.claimLines(), await claimer.claimLines()]).toEqual(['6-9', '10-10'])
  expect(await claimer.claim()).toEqual({ what: 'exhausted' })
})

const TEN_MINUTES = { retryAfterMs: 600_000 }

test.for([
  ['new rows', 'hold', refused(500, 'InternalError', TEN_MINUTES), '5-7'],
  ['ready ones', 'resend', refused(503, 'ServiceUnavailable', TEN_MINUTES), '2-4'],
] as const)(
  'while an import backs off nothing of it is claimed: %s',
  async ([, onUncertain, answer, next]) => {
    await using store = await openTestStore()
    const claimer = await openClaimer(store, { rows: 10, batchRows: 3, onUncertain })
    expect(await claimer.send(answer)).toBe('2-4')
    const wait = await claimer.claim()
    if (wait.what !== 'wait') throw new Error(wait.what)
    expect(wait.waitMs).toBeGreaterThan(500_000)
    await ageImport(store.pool, claimer.id, '11 minutes')
    expect(await claimer.claimLines()).toBe(next)
  },
)

describe('an import that has waited for a limit', () => {
  /** One call, which has been made. */
  const FULL = [{ maxCalls: 1, windowMs: 60_000 }]
  type Claimer = Awaited<ReturnType<typeof openClaimer>>

  /** Two imports, the second of which was served; the first has been told to wait for the limit of its key. */
  async function waiting(store: TestStore, limitKey = 'account:default') {
    const other = await openClaimer(store, { pageId: 3n }, limitKey)
    await other.worker.claim()
    const first = await openClaimer(store, { batchRows: 1 }, limitKey)
    const second = await openClaimer(store, { pageId: 2n, batchRows: 1 })
    await second.worker.claim()
    expect(await first.claim(FULL)).toMatchObject({ what: 'wait' })
    return { first, second }
  }

  test('goes before one that was served later, and before no other', async () => {
    await using store = await openTestStore()
    const { first, second } = await waiting(store)
    const calls = await callsOf(store)
    expect(await second.claim()).toMatchObject({ what: 'wait', pollSoon: true })
    expect(await callsOf(store)).toBe(calls)
    expect(await first.claim()).toMatchObject({ what: 'claimed' })
    // It waits again; but now the second was served longer ago.
    expect(await first.claim(FULL)).toMatchObject({ what: 'wait' })
    expect(await second.claim()).toMatchObject({ what: 'claimed' })
  })

  test('keeps nobody waiting for another limit', async () => {
    await using store = await openTestStore()
    const { second } = await waiting(store, 'account:another')
    expect(await second.claim()).toMatchObject({ what: 'claimed' })
  })

  test.for<[string, (store: TestStore, first: Claimer) => Promise<unknown>]>([
    ['has given up', ({ pool }, { id }) => ageImport(pool, id, '1 minute')],
    ['is paused', ({ pool }, { id }) => pauseImport(pool, id, ADA)],
  ])('keeps nobody waiting once it %s', async ([, act]) => {
    await using store = await openTestStore()
    const { first, second } = await waiting(store)
    await act(store, first)
    expect(await second.claim()).toMatchObject({ what: 'claimed' })
  })

  test('keeps nobody waiting while it backs off', async () => {
    await using store = await openTestStore()
    const first = await openClaimer(store, { batchRows: 1 })
    const second = await openClaimer(store, { pageId: 2n, batchRows: 1 })
    const inFlight = await first.worker.claim()
    await second.worker.claim()
    expect(await first.claim(FULL)).toMatchObject({ what: 'wait' })
    expect(await second.claim()).toMatchObject({ what: 'wait', pollSoon: true })
    await first.worker.send(inFlight, UNAVAILABLE)
    expect(await second.claim()).toMatchObject({ what: 'claimed' })
  })
})

test('one row is always enough for a call, however large; a batch ends before it is larger than a megabyte', async () => {
  await using store = await openTestStore()
  const recipient = (line: number) => `${line}${'x'.repeat(line === 2 ? 1_200_000 : 400_000)}`
  const claimer = await openClaimer(store, { rows: 6, recipient })
  expect([await claimer.claimLines(), await claimer.claimLines()]).toEqual(['2-2', '3-4'])
})

test('a batch of rows that another import may have sent is called resent, as often as that', async () => {
  await using store = await openTestStore()
  const other = await stageRows(store.pool, { rows: 1, recipient: () => 'p3@example.com' })
  await sendBatches(store.pool, other, [LOST, LOST])
  await pauseImport(store.pool, other, ADA)
  const claimer = await openClaimer(store, { rows: 6, batchRows: 3 })
  expect([await claimer.claimLines(), await claimer.claimLines()]).toEqual(['2-4', '5-7'])
  const { batches } = await reportImport(store.pool, claimer.id)
  expect(batches.map(batch => batch.resends)).toEqual([2, 0])
})

test('a batch counts as resent as often as the most of its rows may have been sent by others', async () => {
  await using store = await openTestStore()
  const { id, claim } = await openClaimer(store, { rows: 3 })
  await store.pool.query(
    'update ferry.import_recipients set maybe_sent = nullif(line - 2, 0) where import_id = $1',
    [id],
  )
  await claim()
  const { rows } = await store.pool.query('select resends from ferry.import_batches')
  expect(rows).toEqual([{ resends: 2 }])
})
