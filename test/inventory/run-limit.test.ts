import { expect, test } from 'vitest'
import { findLastRefusal } from '#src/inventory/runs/ledger.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { leasesOf } from '#test/support/leases.ts'
import { addRun } from '#test/support/runs.ts'
import { waitFor } from '#test/support/wait-for.ts'

const NEVER = new AbortController().signal
const REQUEST = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const

test('a run that takes longer than it may fails, applies nothing and gives its lease up; the next one succeeds', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  harness.sandbox.state.inject({ kind: 'hang' }, { nth: 1 })
  const context = { ...harness.ferry, runLimitMs: 600 }
  for (const run of [1n, 2n]) {
    harness.sandbox.state.inject({ kind: 'hang' }, { nth: 1 })
    expect(await syncInventory(context, REQUEST, NEVER)).toMatchObject({
      run,
      status: 'failed',
      errorCode: 'TimedOut',
      message: 'the run took longer than 0.01 minutes; nothing was applied',
      added: 0,
      durationMs: expect.toSatisfy((ms: number) => ms >= 600),
    })
    expect(await leasesOf(harness.ferry.pool)).toEqual([])
  }
  harness.sandbox.state.clearFaults()
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', added: 3 })
  expect(
    await harness.query('select status, finished_at is null as open from ferry.sync_runs order by id'),
  ).toEqual([
    { status: 'failed', open: false },
    { status: 'failed', open: false },
    { status: 'succeeded', open: false },
  ])
})

test('a run that waits for another one waits no longer than a run may take, and is skipped then', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  harness.sandbox.state.inject({ kind: 'hang' })
  const stop = new AbortController()
  // Who waited for longer would have its turn then.
  const timer = setTimeout(() => stop.abort(new Error('enough')), 20_000)
  const first = syncInventory(harness.ferry, REQUEST, stop.signal)
  await waitFor(() => harness.sandbox.state.received.length > 0, { what: 'the first run to call' })
  const second = await syncInventory(
    { ...harness.ferry, runLimitMs: 600 },
    { ...REQUEST, waitsForOther: true },
    NEVER,
  )
  expect(second).toMatchObject({
    status: 'skipped',
    message: expect.stringContaining('was syncing this inventory'),
  })
  clearTimeout(timer)
  stop.abort(new Error('enough'))
  expect(await first).toMatchObject({ status: 'failed', errorCode: 'Interrupted' })
})

test('a run that met nothing but refusals until its end names the last one', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  harness.sandbox.state.inject({ kind: 'error', code: 'RequestTooFrequently', retryAfterS: 0 })
  const result = await syncInventory({ ...harness.ferry, runLimitMs: 3_000 }, REQUEST, NEVER)
  expect(result).toMatchObject({
    status: 'failed',
    errorCode: 'TimedOut',
    message:
      'the run took longer than 0.05 minutes; nothing was applied; the last refusal was HTTP 429 (RequestTooFrequently)',
  })
  const [last] = await harness.query(
    'select request_id from ferry.platform_calls where request_id is not null order by id desc limit 1',
  )
  expect(result).toMatchObject({ requestId: last?.request_id })
})

test('of the calls of a run, the last that was refused counts, and not one that was cut short after it', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  const { pool } = harness.ferry
  const run = await addRun(pool)
  const log = (httpStatus: number | null, errorCode: string | null, requestId: string | null) =>
    pool.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id, http_status, error_code, request_id)
       values ('k', 'default', 'list-alert-rules', now(), now(), $1, $2, $3, $4)`,
      [run, httpStatus, errorCode, requestId],
    )
  await log(200, null, 'req-1')
  await log(null, 'NotSent', null)
  expect(await findLastRefusal(pool, run)).toBeUndefined()
  await log(429, 'NoEnvelope', null)
  expect(await findLastRefusal(pool, run)).toEqual({ code: 'NoEnvelope', httpStatus: 429, requestId: null })
  await log(429, 'RequestTooFrequently', 'req-2')
  await log(200, 'NoAnswer', 'req-3')
  expect(await findLastRefusal(pool, run)).toMatchObject({ requestId: 'req-2' })
  expect(await findLastRefusal(pool, run + 1n)).toBeUndefined()
})
