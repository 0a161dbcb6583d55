import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { callsPerMinute, saveCallsPerMinute } from '#src/db/limits.ts'
import { recordSkipped, startRun } from '#src/inventory/runs/ledger.ts'
import { addRun, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

type Call = {
  key?: string
  account?: string
  operation?: string
  at: string
  ms?: number
  status?: number
  code?: string
  id?: string
}

async function addCalls(store: TestStore, calls: readonly Call[]): Promise<void> {
  for (const {
    key = 'account:a',
    account = 'a',
    operation = 'list-alert-rules',
    at,
    ms,
    status,
    code,
    id,
  } of calls) {
    await store.pool.query(
      `insert into ferry.platform_limits (limit_key, operation) values ($1, $2) on conflict do nothing`,
      [key, operation],
    )
    await store.pool.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, error_code, request_id)
       values ($1, $2, $3, $4, $4::timestamptz + interval '5 s', $4::timestamptz + $5::int * interval '1 ms', $6, $7, $8)`,
      [key, account, operation, at, ms ?? null, status ?? null, code ?? null, id ?? null],
    )
  }
}

test('limit_use counts the calls of each minute against what the settings allow', async () => {
  await using store = await openTestStore()
  const at = (time: string) => `2026-01-01T00:${time}Z`
  await addCalls(store, [
    { at: at('00:59'), ms: 10, status: 200 },
    { at: at('01:00'), ms: 10, status: 200 },
    { at: at('01:30'), ms: 10, status: 429, account: 'b' },
    { at: at('01:59.999'), account: 'b' },
    { at: at('01:00'), key: 'account:c', account: 'c', operation: 'import-subscribers', status: 503 },
    { at: at('02:00'), ms: 10, status: 500 },
  ])
  await saveCallsPerMinute(store.pool, [
    { limitKey: 'account:a', operation: 'list-alert-rules', windows: [{ maxCalls: 12, windowMs: 60_000 }] },
  ])
  const { rows } = await store.pool.query(`select * from ferry.limit_use('2026-01-01T00:01Z')`)
  const minute = new Date(at('01:00'))
  expect(rows).toEqual([
    {
      minute: new Date(at('02:00')),
      account: 'a',
      operation: 'list-alert-rules',
      calls: 1,
      allowed: 12,
      share: 1 / 12,
      refused: 0,
    },
    {
      minute,
      account: 'c',
      operation: 'import-subscribers',
      calls: 1,
      allowed: null,
      share: null,
      refused: 0,
    },
    {
      minute,
      account: 'a, b',
      operation: 'list-alert-rules',
      calls: 3,
      allowed: 12,
      share: 0.25,
      refused: 1,
    },
  ])
  const ofOne = await store.pool.query(
    `select account, calls, refused from ferry.limit_use('2026-01-01T00:01Z', 'b')`,
  )
  expect(ofOne.rows).toEqual([{ account: 'b', calls: 2, refused: 1 }])
  const windows = [
    { maxCalls: 2, windowMs: 1_000 },
    { maxCalls: 20, windowMs: 60_000 },
  ]
  expect(callsPerMinute({ windows })).toBe(20)
  expect(callsPerMinute({ windows: windows.slice(0, 1) })).toBe(120)
  // Reports divide by it, and Postgres stores it as an integer.
  expect(callsPerMinute({ windows: [{ maxCalls: 5, windowMs: 600_000 }] })).toBe(1)
  expect(callsPerMinute({ windows: [{ maxCalls: 50_000_000, windowMs: 1_000 }] })).toBe(2_147_483_647)
})

test('call_latency has the percentiles of answered calls by operation', async () => {
  await using store = await openTestStore()
  await addCalls(store, [
    ...Array.from({ length: 101 }, (_, n) => ({
      at: `2026-01-01T00:00:0${n % 10}Z`,
      ms: n * 10,
      status: 200,
    })),
    { at: '2026-01-01T00:00:01Z', ms: 90_000 },
    { at: '2025-12-31T23:59:59Z', ms: 90_000, status: 200 },
  ])
  const { rows } = await store.pool.query(
    `select account, operation, calls, unanswered, p50::text, p95::text, p99::text, longest::text
     from ferry.call_latency('2026-01-01')`,
  )
  expect(rows).toEqual([
    {
      account: 'a',
      operation: 'list-alert-rules',
      calls: 102,
      unanswered: 1,
      p50: '00:00:00.5',
      p95: '00:00:00.95',
      p99: '00:00:00.99',
      longest: '00:00:01',
    },
  ])
})

test('calls_refused counts by code, with the request ids of the last five', async () => {
  await using store = await openTestStore()
  await addCalls(store, [
    ...[1, 2, 3, 4, 5, 6].map(n => ({
      at: `2026-01-01T00:00:0${n}Z`,
      ms: 1,
      status: 500,
      code: 'InternalError',
      id: `r${n}`,
    })),
    { at: '2026-01-01T00:00:07Z', code: 'Timeout' },
    { at: '2026-01-01T00:00:08Z', status: 200, ms: 1, id: 'fine' },
  ])
  const { rows } = await store.pool.query(`select * from ferry.calls_refused('2026-01-01')`)
  expect(rows).toEqual([
    {
      account: 'a',
      operation: 'list-alert-rules',
      error_code: 'InternalError',
      http_status: 500,
      calls: 6,
      first_at: new Date('2026-01-01T00:00:01Z'),
      last_at: new Date('2026-01-01T00:00:06Z'),
      request_ids: ['r6', 'r5', 'r4', 'r3', 'r2'],
    },
    expect.objectContaining({ error_code: 'Timeout', http_status: null, calls: 1, request_ids: null }),
  ])
})

test('runs_health counts runs by their end, and says how long they took', async () => {
  await using store = await openTestStore()
  const { pool } = store
  for (const end of [
    { seen: 3, added: 2, changed: 1, requests: 1 },
    { status: 'held', removed: 1, requests: 2 },
    { status: 'partial', quarantined: 1 },
    { status: 'failed', appliedAt: null, errorCode: 'Unauthorized' },
  ] as const) {
    await addRun(pool, { end })
  }
  await recordSkipped(pool, NEW_RUN, 'another run is syncing it')
  await pool.query(`update ferry.sync_runs set finished_at = started_at + id * interval '10 seconds'`)
  await startRun(pool, NEW_RUN, { token: randomUUID() })
  const { rows } = await pool.query(
    `select account, inventory, runs, succeeded, held, partial, failed, skipped, running, added, changed, removed, quarantined, requests,
       p50::text, p95::text, longest::text, last_error_code from ferry.runs_health()`,
  )
  expect(rows).toEqual([
    {
      account: 'default',
      inventory: 'alert-rules',
      runs: 6,
      succeeded: 1,
      held: 1,
      partial: 1,
      failed: 1,
      skipped: 1,
      running: 1,
      added: 2,
      changed: 1,
      removed: 1,
      quarantined: 1,
      requests: 3,
      p50: '00:00:25',
      p95: '00:00:38.5',
      longest: '00:00:40',
      last_error_code: 'Unauthorized',
    },
  ])
  expect((await pool.query(`select * from ferry.runs_health(now() + interval '1 hour')`)).rows).toEqual([])
})
