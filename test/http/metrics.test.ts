import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { readDatabaseGauges } from '#src/http/database-metrics.ts'
import { workImport } from '#src/imports/sending/work.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { Secret } from '#src/model/secret.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { stageRows } from '#test/support/staged.ts'
import { ask, openHttpHarness, openTestHttp } from './http-harness.ts'
import { readScrape } from './scrape.ts'

const NEVER = new AbortController().signal
const RULES = { account: 'default', inventory: 'alert-rules' }

async function syncHere(harness: Awaited<ReturnType<typeof openHttpHarness>>) {
  const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
  const run = await syncInventory(harness.worker, request, NEVER)
  harness.http.onRun(run)
  return run
}

/** The operations that are refused now, by the gauge. */
async function refusedIn({ worker: { pool } }: Awaited<ReturnType<typeof openHttpHarness>>) {
  const gauges = await readDatabaseGauges({ pool, schedules: [], catchUpMs: 0, limits: [] })
  return gauges.find(({ name }) => name === 'ferry_refused')?.samples.map(([labels]) => labels)
}

describe('what this process did', () => {
  test('runs, rows, changes and calls are counted, and how long they took', async () => {
    await using harness = await openHttpHarness({}, { rules: 5, folders: 1 })
    await syncHere(harness)
    harness.sandbox.state.removeRule(harness.sandbox.state.rules.ids().at(-1) ?? 0n)
    await syncHere(harness)
    harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
    await syncHere(harness)

    const scrape = await harness.scrape()
    expect(scrape.value('ferry_runs_total', { ...RULES, status: 'succeeded' })).toBe(2)
    expect(scrape.value('ferry_runs_total', { ...RULES, status: 'failed' })).toBe(1)
    expect(scrape.value('ferry_rows_total', RULES)).toBe(9)
    expect(scrape.value('ferry_changes_total', { ...RULES, status: 'added' })).toBe(5)
    expect(scrape.value('ferry_changes_total', { ...RULES, status: 'removed' })).toBe(1)
    const calls = { account: 'default', operation: 'list-alert-rules' }
    expect(scrape.value('ferry_calls_total', { ...calls, status: '200', code: 'none' })).toBe(3)
    expect(scrape.value('ferry_calls_total', { ...calls, code: 'AccessDenied' })).toBe(1)
    expect(scrape.value('ferry_call_duration_seconds_count')).toBe(4)
    expect(scrape.value('ferry_run_duration_seconds_bucket', { status: 'failed', le: '+Inf' })).toBe(1)
    expect(scrape.value('ferry_limit_wait_seconds_total', calls)).toBeGreaterThan(0)
    expect(scrape.value('ferry_process_resident_memory_bytes')).toBeGreaterThan(1e6)
  })

  test('calls of imports are counted too, and their waits for the limit', async () => {
    await using harness = await openHttpHarness()
    const limit = harness.ferry.limitOf('default', 'import-subscribers')
    expect(limit.windows[0]).toEqual({ maxCalls: 2, windowMs: 1_000 })
    const id = await stageRows(harness.worker.pool, { rows: 7, batchRows: 1 })
    expect(await workImport(harness.worker, id, { signal: NEVER })).toBe('completed')
    const scrape = await harness.scrape()
    const calls = { account: 'default', operation: 'import-subscribers' }
    expect(scrape.value('ferry_calls_total', { ...calls, status: '200', code: 'none' })).toBe(7)
    // Every other call had to wait for a window of a second.
    expect(scrape.value('ferry_limit_wait_seconds_total', calls)).toBeGreaterThan(0.3)
    expect(scrape.value('ferry_import_rows', { account: 'default', status: 'sent' })).toBe(7)
    expect(scrape.value('ferry_imports', { account: 'default', status: 'completed' })).toBe(1)
    expect(scrape.value('ferry_limit_used_ratio', calls)).toBeGreaterThanOrEqual(7 / 20)
  })

  test('codes that never end do not fill the memory of whoever stores the metrics', async () => {
    await using http = await openTestHttp()
    const call = { account: 'default', operation: 'list-alert-rules', httpStatus: null, ms: 1 }
    for (let n = 0; n < 300; n++) http.observer.ended({ ...call, errorCode: `Code${n}` })
    const { samples, value } = readScrape((await ask(`${http.address}/metrics`)).text)
    expect(samples.filter(({ name }) => name === 'ferry_calls_total')).toHaveLength(101)
    expect(value('ferry_calls_total', { code: 'other', status: 'none' })).toBe(200)
  })
})

describe('what stands in Postgres', () => {
  test('freshness, holds, imports, schedules, limits and sizes are gauges', async () => {
    await using harness = await openHttpHarness({}, { rules: 30, folders: 1 })
    await harness.sync()
    const servers = { account: 'default', resource: 'mcp-servers', trigger: 'manual' } as const
    await syncInventory(harness.worker, servers, NEVER)
    for (const id of harness.sandbox.state.rules.ids().slice(0, 20)) harness.sandbox.state.removeRule(id)
    expect((await harness.sync()).status).toBe('held')
    await stageRows(harness.ferry.pool, { rows: 4, status: 'paused' })
    await stageRows(harness.ferry.pool, { rows: 2, status: 'cancelled', pageId: 7n })
    await harness.query(
      `insert into ferry.schedule_slots (account, schedule, slot, done_at)
       values ('default', 'poll-alert-rules', now() - interval '10 minutes', now())`,
    )
    await harness.query(
      `insert into ferry.platform_limits (limit_key, operation, blocked_until)
       values ('account:default', 'list-alert-rules', now() + interval '1 minute')
       on conflict (limit_key, operation) do update set blocked_until = excluded.blocked_until`,
    )
    const scrape = await harness.scrape()
    const nowS = Date.now() / 1_000
    expect(scrape.value('ferry_database_up')).toBe(1)
    expect(scrape.value('ferry_database_clock_timestamp_seconds')).toBeCloseTo(nowS, -1)
    expect(scrape.value('ferry_inventory_last_complete_timestamp_seconds', RULES)).toBeCloseTo(nowS, -1)
    expect(scrape.value('ferry_held_removals', RULES)).toBe(20)
    expect(scrape.value('ferry_held_removals', { ...RULES, inventory: 'mcp-servers' })).toBe(0)
    expect(scrape.value('ferry_quarantined_rows', RULES)).toBe(0)
    expect(scrape.value('ferry_imports', { status: 'paused' })).toBe(1)
    expect(scrape.value('ferry_import_rows', { status: 'pending' })).toBe(4)
    const lagS = nowS - (scrape.value('ferry_schedule_next_timestamp_seconds', { account: 'default' }) ?? 0)
    expect(lagS).toBeGreaterThan(480)
    expect(lagS).toBeLessThanOrEqual(600)
    const closed = { account: 'default', operation: 'list-alert-rules' }
    expect(scrape.value('ferry_limit_closed_until_timestamp_seconds', closed)).toBeGreaterThan(nowS + 50)
    expect(scrape.value('ferry_table_size_bytes', { table: 'alert_rule_versions' })).toBeGreaterThan(8_000)
    expect(scrape.value('ferry_queue_waiting', { queue: 'sync' })).toBe(0)
  })

  test('an operation is refused until a call of it is accepted, or one of its account if the key was wrong; for a quarter of an hour', async () => {
    await using harness = await openHttpHarness()
    const call = (account: string, operation: string, status: number, code: string | null) =>
      harness.query(
        `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, error_code)
         values ($1, $1, $2, now(), now(), now(), $3, $4)`,
        [account, operation, status, code],
      )
    const [rules, servers] = ['list-alert-rules', 'list-mcp-servers']
    for (const account of ['a', 'b']) {
      await call(account, rules, 401, 'Unauthorized')
      await call(account, servers, 401, 'Unauthorized')
    }
    await call('a', 'import-subscribers', 403, 'AccessDenied')
    await call('a', rules, 429, 'RequestTooFrequently')
    const ofB = [rules, servers].map(operation => ({ account: 'b', operation, code: 'Unauthorized' }))
    const denied = { account: 'a', operation: 'import-subscribers', code: 'AccessDenied' }
    expect(await refusedIn(harness)).toHaveLength(5)
    await call('a', rules, 200, null)
    expect(await refusedIn(harness)).toEqual([denied, ...ofB])
    await harness.query(
      `update ferry.platform_calls set started = started - interval '17 min' where account = 'b'`,
    )
    expect(await refusedIn(harness)).toEqual([denied])
    await call('a', 'import-subscribers', 200, null)
    expect(await refusedIn(harness)).toEqual([])
  })

  test('an account may be called anything', async () => {
    const account = 'quoted "name"\nwith \\n and {}=, ✓'
    await using harness = await openHttpHarness()
    await stageRows(harness.ferry.pool, { account, status: 'paused' })
    const scrape = await harness.scrape()
    expect(scrape.value('ferry_imports', { account, status: 'paused' })).toBe(1)
    expect(scrape.value('ferry_import_rows', { account, status: 'pending' })).toBe(10)
  })

  test('it is read once for all who ask at the same time, and once in ten seconds, even if the clock is set back', async () => {
    await using harness = await openHttpHarness()
    const clockOf = (scrape: Awaited<ReturnType<typeof harness.scrape>>) =>
      scrape.value('ferry_database_clock_timestamp_seconds')
    const first = await Promise.all(Array.from({ length: 20 }, () => harness.scrape()))
    expect(new Set(first.map(clockOf)).size).toBe(1)
    const now = performance.now()
    const date = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 86_400_000)
    expect(clockOf(await harness.scrape())).toBe(clockOf(first[0]!))
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 10_001)
    const later = await harness.scrape()
    clock.mockRestore()
    date.mockRestore()
    expect(clockOf(later)).not.toBe(clockOf(first[0]!))
  })

  test('a statement that waits is stopped by the server, and the scrape still has the rest', async () => {
    await using harness = await openHttpHarness()
    await inTransaction(harness.ferry.pool, async client => {
      await client.query('lock table ferry.imports in access exclusive mode')
      // The lock is held until it has answered.
      const scrape = await harness.scrape()
      expect(scrape.value('ferry_database_up')).toBe(0)
      expect(scrape.value('ferry_queue_waiting', { queue: 'sync' })).toBe(0)
      const waits = () => harness.query(WAITING_FOR_LOCK)
      await expect.poll(async () => (await waits()).length).toBe(0)
    })
    await expect.poll(async () => (await harness.scrape()).value('ferry_database_up')).toBe(1)
  })
})

test('the metrics may ask for a token; nothing else does', async () => {
  await using http = await openTestHttp({ metricsToken: new Secret('a-token-of-the-metrics') })
  const scrape = (authorization?: string) =>
    ask(`${http.address}/metrics`, { headers: authorization === undefined ? {} : { authorization } })
  for (const wrong of [
    undefined,
    '',
    'Bearer',
    'Bearer wrong',
    'Bearer a-token-of-the-metrics2',
    'a-token-of-the-metrics',
    'Basic a-token-of-the-metrics',
  ]) {
    const refused = await scrape(wrong)
    expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
    expect(refused.text).not.toContain('a-token-of-the-metrics')
    expect(refused.json).toEqual({
      error:
        'The metrics need a token: that of FERRY_METRICS_TOKEN, or the one that `ferry up` made. Send it as Authorization: Bearer TOKEN.',
    })
  }
  expect((await scrape('Bearer a-token-of-the-metrics')).status).toBe(200)
  expect((await ask(`${http.address}/livez`)).status).toBe(200)
})

test('a worker that starts or stops shows its own metrics and nothing of Postgres', async () => {
  await using starting = await openTestHttp()
  const { text, headers } = await ask(`${starting.address}/metrics`)
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(readScrape(text).value('ferry_process_start_time_seconds')).toBeGreaterThan(0)
  await using harness = await openHttpHarness()
  harness.http.stop()
  const scrape = await harness.scrape()
  expect(scrape.value('ferry_process_start_time_seconds')).toBeGreaterThan(0)
  expect(scrape.value('ferry_database_up')).toBeUndefined()
})

/** The labels of each metric in docs/operators.md. */
const DOCUMENTED = new Map(
  [
    ...readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8').matchAll(
      /^\| `(ferry_\w+)` \| ([a-z, ]*)\|/gm,
    ),
  ].map(([, name = '', labels = '']) => [
    name,
    labels
      .split(',')
      .map(label => label.trim())
      .filter(Boolean),
  ]),
)

describe('names', () => {
  test('all have the prefix and the labels that the docs name; counters end in _total; no id is a label', async () => {
    await using harness = await openHttpHarness({}, { rules: 2 })
    await syncHere(harness)
    const { families, samples } = await harness.scrape()
    for (const [name, type] of families) {
      expect(name).toMatch(/^ferry_[a-z][a-z0-9_]+$/)
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
    }
    const ours = samples.filter(({ name }) => !/^ferry_(nodejs|process)_/.test(name))
    for (const { name, labels } of ours) {
      const metric = name.replace(/_(bucket|sum|count)$/, '')
      const { le: _bound, ...named } = labels
      expect([metric, DOCUMENTED.get(metric)]).toEqual([metric, Object.keys(named)])
    }
  })

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0
  test.skipIf(!hasPromtool)(
    'promtool finds nothing wrong (needs promtool, Debian package prometheus)',
    async () => {
      await using harness = await openHttpHarness({}, { rules: 2 })
      await syncHere(harness)
      await stageRows(harness.ferry.pool, { account: 'quoted "name"\nand \\n', status: 'paused' })
      const { text } = await harness.get('/metrics')
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: text,
        encoding: 'utf8',
      })
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
    },
  )
})
