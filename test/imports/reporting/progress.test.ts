import { describe, expect, test } from 'vitest'
import { ImportNotFound } from '#src/imports/errors.ts'
import { loadProgress } from '#src/imports/reporting/progress.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { putBatches } from '#test/support/batches.ts'
import { removeLeases } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

const LIMIT = {
  limitKey: 'account:default',
  windows: [
    { maxCalls: 2, windowMs: 1_000 },
    { maxCalls: 20, windowMs: 60_000 },
  ],
}

type Store = Awaited<ReturnType<typeof openTestStore>>

/** A running import with a worker at it. */
async function running(store: Store, staged: Parameters<typeof stageRows>[1] = {}): Promise<bigint> {
  const id = await stageRows(store.pool, { status: 'running', ...staged })
  await store.pool.query(`update ferry.imports set started_at = now() - interval '1 hour' where id = $1`, [
    id,
  ])
  await store.pool.query(
    `insert into ferry.leases select 'import:' || account || ':' || page_id || ':' || method, gen_random_uuid(), 'w',
       now(), now() + interval '1 hour' from ferry.imports where id = $1 on conflict do nothing`,
    [id],
  )
  return id
}

describe('a summary', () => {
  test('has the keys that scripts rely on, in their order', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 10, batchRows: 3 })
    await putBatches(store.pool, id, [
      { lines: 3, state: 'sent' },
      { lines: 3, state: 'in flight', claimEndsInMs: 60_000 },
    ])
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

  test.each([
    ['whose claim lives', { state: 'in flight', claimEndsInMs: 60_000 }, { uncertain: 0, pending: 4 }],
    ['whose claim has ended', { state: 'in flight', claimEndsInMs: -1 }, { uncertain: 4, pending: 0 }],
    [
      'sent again',
      { state: 'in flight', claimEndsInMs: 60_000, uncertain: true },
      { uncertain: 4, pending: 0 },
    ],
    ['held for a person', { state: 'uncertain' }, { uncertain: 4, pending: 0 }],
    ['to be sent again', { state: 'ready', uncertain: true }, { uncertain: 4, pending: 0 }],
    ['to be sent', { state: 'ready' }, { uncertain: 0, pending: 4 }],
  ])('counts the rows of a batch %s', async (_, batch, counts) => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 4 })
    await putBatches(store.pool, id, [{ lines: 4, ...batch }])
    expect(await loadSummary(store.pool, id)).toMatchObject(counts)
  })

  test('of a finished import no longer grows older, nor expects more batches', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 10, batchRows: 2 })
    await putBatches(store.pool, id, [{ lines: 2, state: 'sent' }])
    await store.pool.query(
      `update ferry.imports set status = 'cancelled', finished_at = confirmed_at + interval '90 s'`,
    )
    expect(await loadSummary(store.pool, id)).toMatchObject({ batches: 1, durationMs: 90_000 })
  })
})

describe('the rate and the time left', () => {
  test('follow the limit: calls that count already take their places', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 60, batchRows: 1 })
    const fresh = await loadProgress(store.pool, id, LIMIT)
    expect(fresh).toMatchObject({ batchesLeft: 60, rowsPerMinute: null, etaMs: 129_000 })

    await putBatches(
      store.pool,
      id,
      Array.from({ length: 20 }, () => ({ state: 'sent', sentSecondsAgo: 30 })),
    )
    const later = await loadProgress(store.pool, id, LIMIT)
    expect(later.batchesLeft).toBe(40)
    // The last of 60 calls, of which the first was made 30 s ago.
    expect(later.etaMs).toBeGreaterThan(129_000 - 32_000)
    expect(later.etaMs).toBeLessThanOrEqual(129_000 - 30_000)
    expect(later.rowsPerMinute).toBeCloseTo(20, 0)
  })

  test('are those seen if the import is slower than the limit', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 33, batchRows: 10 })
    await putBatches(store.pool, id, [{ lines: 3, state: 'sent', sentSecondsAgo: 100 }])
    const { rowsPerMinute, etaMs } = await loadProgress(store.pool, id, LIMIT)
    expect(rowsPerMinute).toBeCloseTo(1.8, 1)
    expect(etaMs).toBeGreaterThan((30 / 1.9) * 60_000)
  })

  test('are unknown where the account is not', async () => {
    await using store = await openTestStore()
    expect(await loadProgress(store.pool, await running(store), null)).toMatchObject({ etaMs: null })
  })
})

describe('why it waits', () => {
  const whyWaiting = async (store: Store, id: bigint) =>
    (await loadProgress(store.pool, id, LIMIT)).whyWaiting

  test('is null while a call could begin', async () => {
    await using store = await openTestStore()
    expect(await whyWaiting(store, await running(store))).toBeNull()
  })

  test('is the limit, for as long as the throttle itself would wait', async () => {
    await using store = await openTestStore()
    const id = await running(store, { rows: 30 })
    await putBatches(
      store.pool,
      id,
      Array.from({ length: 20 }, () => ({ state: 'sent', sentSecondsAgo: 20 })),
    )
    expect(await whyWaiting(store, id)).toMatch(/^The limit allows the next call in (39\.\d|40\.0) s$/)
    const { rows } = await store.pool.query(
      `select wait_ms from ferry.acquire_permit('account:default', 'import-subscribers', 'default', null, '{2,20}',
         '{1000,60000}', 5000)`,
    )
    const shownMs = Number(/[\d.]+/.exec((await whyWaiting(store, id)) ?? '')?.[0]) * 1000
    expect(Math.abs(shownMs - rows[0].wait_ms)).toBeLessThan(1_000)
  })

  test('is a 429, until calls are accepted again', async () => {
    await using store = await openTestStore()
    const id = await running(store)
    await store.pool.query(
      `insert into ferry.platform_limits values ('account:default', 'import-subscribers', now() + interval '20 s', 1)`,
    )
    expect(await whyWaiting(store, id)).toMatch(
      /^After a 429, no import is sent until \d\d:\d\d:\d\dZ \((19\.\d|20\.0) s\)$/,
    )
  })

  test('is a back-off after a failure', async () => {
    await using store = await openTestStore()
    const id = await running(store)
    await putBatches(store.pool, id, [
      { state: 'ready' },
      { state: 'uncertain', errorCode: 'ServiceUnavailable' },
    ])
    await store.pool.query(`update ferry.imports set retry_at = now() + interval '8 s'`)
    expect(await whyWaiting(store, id)).toMatch(/^Backing off for (7\.\d|8\.0) s after ServiceUnavailable$/)
  })

  test('is a response', async () => {
    await using store = await openTestStore()
    const id = await running(store)
    await putBatches(store.pool, id, [{ state: 'in flight', claimEndsInMs: 9_000, sentSecondsAgo: 70 }])
    expect(await whyWaiting(store, id)).toBe('Waiting for 1 response')
    await putBatches(store.pool, id, [{ state: 'in flight', claimEndsInMs: 9_000, sentSecondsAgo: 70 }])
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

  test('is null while it is paused, and the pause says why', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { status: 'paused' })
    await store.pool.query(
      `update ferry.imports set pause_code = 'Unauthorized', pause_request_id = 'req-1', pause_message = 'The key.',
         pause_what_to_do = 'Make a new one.'`,
    )
    expect(await loadProgress(store.pool, id, LIMIT)).toMatchObject({
      batchesLeft: 1,
      whyWaiting: null,
      etaMs: null,
      pause: { code: 'Unauthorized', requestId: 'req-1', message: 'The key.', whatToDo: 'Make a new one.' },
    })
  })
})
