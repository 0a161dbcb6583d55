import { describe, expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { ImportNotFound } from '#src/imports/errors.ts'
import { leaseNameOf } from '#src/imports/page.ts'
import { loadProgress } from '#src/imports/reporting/progress.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { findImport } from '#src/imports/sending/work.ts'
import { guardedMs } from '#src/model/limit.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { holdLease, removeLeases } from '#test/support/leases.ts'
import {
  ACCEPTED,
  LOST,
  openScriptedWorker,
  refused,
  type ScriptedWorker,
  sendBatches,
} from '#test/support/scripted-worker.ts'
import { type StagedImport, stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

const LIMIT = {
  limitKey: 'account:default',
  windows: [
    { maxCalls: 2, windowMs: 1_000 },
    { maxCalls: 20, windowMs: 60_000 },
  ],
}

/** A running import of which a worker has the lease. */
async function running(store: TestStore, staged: StagedImport = {}): Promise<bigint> {
  const id = await stageRows(store.pool, { status: 'running', ...staged })
  const head = await findImport(store.pool, id)
  if (!head!.isBehind) await holdLease(store.pool, leaseNameOf(head!))
  return id
}

describe('a summary', () => {
  test('has the keys that scripts rely on, in their order', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 10, batchRows: 3 })
    await using worker = await openScriptedWorker(store.pool, id)
    await worker.send(await worker.claim(), ACCEPTED)
    await worker.claim()
    const summary = await loadSummary(store.pool, id)
    expect(Object.entries(summary)).toEqual([
      ['import', id],
      ['account', 'default'],
      ['page', 5750613685214n],
      ['status', 'running'],
      ['read', 10],
      ['sent', 3],
      ['rejected', 0],
      ['duplicate', 0],
      ['suppressed', 0],
      ['alreadyImported', 0],
      ['uncertain', 0],
      ['pending', 7],
      ['batches', 4],
      ['requests', 2],
      ['durationMs', expect.any(Number)],
    ])
  })

  test('of an import that does not exist says so', async () => {
    await using store = await openTestStore()
    await expect(loadSummary(store.pool, 9n)).rejects.toThrow(ImportNotFound)
    await expect(loadProgress(store.pool, 9n, LIMIT)).rejects.toThrow(ImportNotFound)
  })

  const claim = (worker: ScriptedWorker) => worker.claim()
  const lose = async (worker: ScriptedWorker) => worker.send(await worker.claim(), LOST)
  const release = async (worker: ScriptedWorker) => worker.release(await worker.claim())
  const wait = ({ context: { pool, importId } }: ScriptedWorker) => ageImport(pool, importId, '1 hour')

  test.each([
    ['whose claim lives', 'resend', [claim], { uncertain: 0, pending: 4 }],
    ['whose claim has expired', 'resend', [claim, wait], { uncertain: 4, pending: 0 }],
    ['sent again', 'resend', [lose, claim], { uncertain: 4, pending: 0 }],
    ['held for a person', 'hold', [lose], { uncertain: 4, pending: 0 }],
    ['to be sent again', 'resend', [lose], { uncertain: 4, pending: 0 }],
    ['to be sent', 'resend', [release], { uncertain: 0, pending: 4 }],
  ] as const)('counts the rows of a batch %s', async (_, onUncertain, steps, counts) => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 4, onUncertain })
    await using worker = await openScriptedWorker(store.pool, id)
    for (const step of steps) await step(worker)
    expect(await loadSummary(store.pool, id)).toMatchObject(counts)
  })

  test('of a finished import no longer grows older, nor expects more batches', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 10, batchRows: 2 })
    await sendBatches(store.pool, id, [ACCEPTED])
    await ageImport(store.pool, id, '90 s')
    await cancelImport(store.pool, id, ADA)
    const ended = await loadSummary(store.pool, id)
    expect(ended).toMatchObject({ batches: 1, durationMs: expect.closeTo(90_000, -4) })
    await ageImport(store.pool, id, '1 hour')
    expect(await loadSummary(store.pool, id)).toEqual(ended)
  })
})

describe('the rate and the time left', () => {
  test('follow the limit: calls that count already take their places', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 60, batchRows: 1 })
    const fresh = await loadProgress(store.pool, id, LIMIT)
    expect(fresh).toMatchObject({ batchesLeft: 60, rowsPerMinute: null, etaMs: 129_000 })

    const before = performance.now()
    await sendBatches(store.pool, id, Array(20).fill(ACCEPTED))
    await ageImport(store.pool, id, '30 s')
    const later = await loadProgress(store.pool, id, LIMIT)
    expect(later.batchesLeft).toBe(40)
    // The last of 60 calls, of which the first was made 30 s ago.
    expect(later.etaMs).toBeGreaterThan(129_000 - 30_000 - (performance.now() - before) - 1_000)
    expect(later.etaMs).toBeLessThanOrEqual(129_000 - 30_000)
    // Half a window says nothing of the rate.
    expect(later.rowsPerMinute).toBeNull()
  })

  test('do not count the time that it waited for a person', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 3_000, batchRows: 20 })
    await sendBatches(store.pool, id, [ACCEPTED, ACCEPTED])
    await pauseImport(store.pool, id, ADA)
    await ageImport(store.pool, id, '90 s')
    const beforeMs = performance.now()
    await resumeImport(store.pool, id, ADA)
    await sendBatches(store.pool, id, [ACCEPTED])
    // 147 calls are left, 20 a minute, as its confirmation says: the last begins in the eighth minute.
    const resumed = await loadProgress(store.pool, id, LIMIT)
    expect(resumed.rowsPerMinute).toBeNull()
    expect(resumed.etaMs).toBeGreaterThan(7 * 60_000)
    expect(resumed.etaMs).toBeLessThan(7.2 * 60_000)

    await ageImport(store.pool, id, '65 s')
    await sendBatches(store.pool, id, Array(9).fill(ACCEPTED))
    const later = await loadProgress(store.pool, id, LIMIT)
    const workedS = 65 + (performance.now() - beforeMs) / 1_000
    expect(later.rowsPerMinute).toBeGreaterThan(200 * (60 / (workedS + 5)))
    expect(later.rowsPerMinute).toBeLessThanOrEqual(200 * (60 / 65))
  })

  test('are never better than the limit allows, though its calls come in bursts', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 3_000, batchRows: 20 })
    await sendBatches(store.pool, id, Array(20).fill(ACCEPTED))
    await ageImport(store.pool, id, '62 s')
    await sendBatches(store.pool, id, Array(15).fill(ACCEPTED))
    expect(await loadProgress(store.pool, id, LIMIT)).toMatchObject({ rowsPerMinute: 400 })
  })

  test('are those of the last three minutes', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 3_000, batchRows: 20 })
    await sendBatches(store.pool, id, [ACCEPTED])
    await ageImport(store.pool, id, '1 hour')
    await sendBatches(store.pool, id, [ACCEPTED, ACCEPTED, ACCEPTED])
    expect((await loadProgress(store.pool, id, LIMIT)).rowsPerMinute).toBe(20)
  })

  test('are those seen if the import is slower than the limit', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 40, batchRows: 10 })
    await sendBatches(store.pool, id, [ACCEPTED])
    await ageImport(store.pool, id, '100 s')
    const { rowsPerMinute, etaMs } = await loadProgress(store.pool, id, LIMIT)
    expect(rowsPerMinute).toBeGreaterThan(5)
    expect(rowsPerMinute).toBeLessThanOrEqual(6)
    expect(etaMs).toBeGreaterThan((30 / 6.1) * 60_000)
  })

  test('are unknown where the account is not', async () => {
    await using store = await openTestStore()
    expect(await loadProgress(store.pool, await running(store), null)).toMatchObject({ etaMs: null })
  })
})

describe('why it waits', () => {
  const whyWaiting = async (store: TestStore, id: bigint) =>
    (await loadProgress(store.pool, id, LIMIT)).whyWaiting

  test('is null while a call could begin', async () => {
    await using store = await openTestStore()
    expect(await whyWaiting(store, await running(store))).toBeNull()
  })

  test('is the limit, for as long as the throttle itself would wait', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 30, batchRows: 1 })
    const before = performance.now()
    await sendBatches(store.pool, id, Array(20).fill(ACCEPTED))
    await ageImport(store.pool, id, '20 s')
    const waitS = Number(
      /^The limit allows the next call in ([\d.]+) s$/.exec((await whyWaiting(store, id)) ?? '')?.[1],
    )
    const windowS = guardedMs(60_000) / 1_000
    expect(waitS).toBeLessThanOrEqual(windowS - 20 + 0.05)
    expect(waitS).toBeGreaterThan(windowS - 20.1 - (performance.now() - before) / 1_000)
    const shownMs = async () => Number(/[\d.]+/.exec((await whyWaiting(store, id)) ?? '')?.[0]) * 1_000
    const beforeMs = await shownMs()
    const { rows } = await store.pool.query(
      `select wait_ms from ferry_internal.acquire_call_permit('account:default', 'import-subscribers', 'default', null, '{2,20}', $1, $2)`,
      [[1_000, 60_000].map(guardedMs), guardedMs(5_000)],
    )
    // Shown to a tenth of a second, before and after.
    expect(rows[0].wait_ms).toBeLessThanOrEqual(beforeMs + 100)
    expect(rows[0].wait_ms).toBeGreaterThanOrEqual((await shownMs()) - 100)
  })

  test('is a 429, until calls are accepted again', async () => {
    await using store = await openTestStore()
    const id = await running(store)
    await sendBatches(store.pool, id, [refused(429, 'RequestTooFrequently', { retryAfterMs: 20_000 })])
    expect(await whyWaiting(store, id)).toMatch(
      /^After a 429, no import is sent until \d\d:\d\d:\d\dZ \((1\d|20)\.\d s\)$/,
    )
  })

  test('is a back-off after a failure', async () => {
    await using store = await openTestStore()
    const id = await running(store)
    await sendBatches(store.pool, id, [refused(503, 'ServiceUnavailable', { retryAfterMs: 8_000 })])
    expect(await whyWaiting(store, id)).toMatch(/^Backing off for \d\.\d s after ServiceUnavailable$/)
  })

  test('is a response', async () => {
    await using store = await openTestStore()
    const id = await running(store, { batchRows: 1 })
    await using worker = await openScriptedWorker(store.pool, id)
    await worker.claim()
    await ageImport(store.pool, id, '70 s')
    expect(await whyWaiting(store, id)).toBe('Waiting for 1 response')
    await worker.claim()
    await ageImport(store.pool, id, '70 s')
    expect(await whyWaiting(store, id)).toBe('Waiting for 2 responses')
  })

  test('is another import of the same page', async () => {
    await using store = await openTestStore()
    const first = await running(store)
    await running(store, { pageId: 9n })
    const second = await running(store)
    const words = `Import ${first} of the same page goes first`
    expect(await whyWaiting(store, second)).toBe(words)
    await removeLeases(store.pool)
    expect(await whyWaiting(store, second)).toBe(
      `${words}, and no worker is processing it: start \`ferry worker\`, or cancel that import`,
    )
  })

  test('is that no worker processes it', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool)
    expect(await whyWaiting(store, id)).toContain('start `ferry worker`')
  })

  test('is for a few seconds after a decision that a worker takes it, if one lives', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { status: 'paused' })
    await ageImport(store.pool, id, '1 hour')
    await resumeImport(store.pool, id, ADA)
    expect(await whyWaiting(store, id)).toContain('start `ferry worker`')
    await recordWorker(store.pool, 'other', null, ['other'])
    expect(await whyWaiting(store, id)).toBe(
      'No worker has the account of this import: start `ferry worker` with the account in its settings',
    )
    await recordWorker(store.pool, 'one', null, ['default'])
    expect(await whyWaiting(store, id)).toBe('A worker takes it within seconds')
    await ageImport(store.pool, id, '11 s')
    expect(await whyWaiting(store, id)).toContain('start `ferry worker`')
    await holdLease(store.pool, leaseNameOf((await findImport(store.pool, id))!))
    expect(await whyWaiting(store, id)).toBeNull()
  })

  test('is null while it is paused, and the pause says why', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool)
    const answer = refused(401, 'Unauthorized', { message: 'The key.', requestId: 'req-1' })
    await sendBatches(store.pool, id, [answer])
    expect(await loadProgress(store.pool, id, LIMIT)).toMatchObject({
      batchesLeft: 1,
      whyWaiting: null,
      etaMs: null,
      pause: {
        code: 'Unauthorized',
        httpStatus: 401,
        requestId: 'req-1',
        message: 'The platform answered Unauthorized (HTTP 401).',
        platformMessage: expect.stringContaining('The key.'),
        whatToDo: expect.stringMatching(/./),
      },
    })
  })
})
