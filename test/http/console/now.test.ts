import { pino } from 'pino'
import { expect, test } from 'vitest'
import { acquireLease } from '#src/db/leases.ts'
import { recordWorker } from '#src/db/workers.ts'
import { limits } from '#src/http/console/now/limits.ts'
import type { NowFacts } from '#src/http/console/now/load-now.ts'
import { cancelImport } from '#src/imports/control/decide.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { finishRun, NOTHING_DONE, startRun } from '#src/inventory/runs/ledger.ts'
import { leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { pauseSchedule } from '#src/schedules/control.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { ACCEPTED, LOST, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { cellsOf } from './cells.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { allRight, HOURLY, verdictIn } from './now-page.ts'

/** The rows of a table, and those of it that are folded, after them. */
const cellsOfAll = (text: string, caption: string) =>
  text.split('<details').flatMap(part => cellsOf(part, caption))

test('before anything was read, the page says so and what comes next', async () => {
  await using harness = await openConsoleHarness()
  const { status, text } = await harness.page('/')
  expect(status).toBe(200)
  expect(verdictIn(text)).toEqual(['bad', 'No worker is alive.'])
  expect(text).toContain('<code>ferry worker</code> starts one')
  expect(text).toContain('<code>ferry sync all</code> reads them now')
  expect(text).toContain('data-refresh="15000"')
})

test('one sentence says that everything is all right, to who may only look', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  await allRight(harness)
  const { status, text } = await harness.page('/', READ_TOKEN)
  expect(status).toBe(200)
  expect(verdictIn(text)).toEqual([
    'good',
    'All 2 inventories are fresh, one worker is alive, and nothing waits for a decision.',
  ])
  expect(text).toContain('data-announce="Worker one">alive<')
  expect(text).toContain('1.2.3')
  expect(text).not.toContain('Pending decisions')
  expect(text).toContain(
    'In the last day, no inventory was older than its freshness target since it was first read.',
  )
  const open = text.replaceAll(/<details class="fold".*?<\/details>/gs, '')
  for (const words of [
    '2 inventories fresh',
    '1 worker alive',
    '5 calls in the last hour, far from the limits',
  ]) {
    expect(text).toContain(words)
    expect(open).not.toContain(words)
  }
  expect(open).not.toContain('<table>')
})

test('a late inventory says why, and leads to the run that failed', async () => {
  await using harness = await openConsoleHarness()
  await allRight(harness)
  const { pool } = harness.ferry
  await ageRuns(pool, '2 hours')
  const failed = await startRun(pool, NEW_RUN, { token: crypto.randomUUID() })
  await finishRun(pool, failed, {
    ...NOTHING_DONE,
    status: 'failed',
    appliedAt: null,
    errorCode: 'AccessDenied',
    requestId: 'request-77',
    message: 'No.',
  })
  await pauseSchedule(
    pool,
    [{ schedule: 'poll-alert-rules', account: 'default' } as never],
    'poll-alert-rules',
    undefined,
    ADA,
  )
  await pool.query(`update ferry.freshness_targets set schedule = 'other' where resource = 'alert-rules'`)
  const { text } = await harness.page('/')
  expect(verdictIn(text)).toEqual(['bad', '2 of 2 inventories are late, and one schedule is paused.'])
  expect(text).toContain('permission missing (403): give the role of the key')
  expect(text).toContain(`<a href="/ledger/runs/${failed}">Run ${failed}</a>`)
  expect(text).toContain('/ledger/calls?request_id=request-77')
  expect(text).toContain('its schedule is paused: ')
  expect(text).toContain('<a href="/ledger/schedules">Schedules</a>')
  expect(text).toContain('>still late<')
  expect(cellsOfAll(text, 'Freshness').map(row => row.slice(1, 5))).toEqual([
    ['alert-rules', 'late', '2 h', '1 h'],
    ['mcp-servers', 'late', '2 h', '1 h'],
  ])
})

test('each decision that waits leads to the page that decides it', async () => {
  await using harness = await openConsoleHarness({}, { rules: 30 })
  await allRight(harness)
  const { pool } = harness.ferry
  const ids: bigint[] = []
  for (const [index, status] of (['paused', 'undecided', 'staging', 'running'] as const).entries()) {
    ids.push(await stageRows(pool, { status, pageId: BigInt(index + 1) }))
  }
  const { state } = harness.sandbox
  for (const { id } of [...state.rules.rows()].slice(0, 15)) state.removeRule(id)
  const { run } = await harness.sync()
  const { text } = await harness.page('/')
  expect(verdictIn(text)).toEqual(['warn', `4 decisions wait, and import ${ids[3]} has sent 0 of 10 rows.`])
  expect(text).toContain(`href="/ledger/holds/${run}"`)
  expect(text).toContain('15 alert rules missing from the listing')
  for (const id of ids.slice(0, 3)) expect(text).toContain(`href="/imports/${id}"`)
  expect(text).not.toContain(`href="/imports/${ids[3]}">Import`)
})

test('an undecided import that is cancelled waits until its uncertain rows are decided about, or it is purged', async () => {
  await using harness = await openConsoleHarness()
  await allRight(harness)
  const { pool } = harness.ferry
  const [decided, purged] = [
    await stageRows(pool, { status: 'undecided', pageId: 1n }),
    await stageRows(pool, { status: 'undecided', pageId: 2n }),
  ]
  for (const id of [decided, purged]) await cancelImport(pool, id, ADA)
  await stageRows(pool, { status: 'cancelled', pageId: 3n })
  const { text } = await harness.page('/')
  expect(verdictIn(text)).toEqual(['warn', '2 decisions wait.'])
  for (const id of [decided, purged]) expect(text).toContain(`href="/imports/${id}"`)
  expect(text).toContain('It is cancelled. No definite answer came for 10 rows: the platform may have them.')
  expect((await harness.page('/imports')).text).toContain(`href="/imports/${decided}#uncertain"`)

  expect((await harness.submit(`/imports/${decided}/resolve/sent`)).status).toBe(303)
  await purgeImport(pool, purged, ADA)
  expect((await harness.page('/')).text).not.toContain('Pending decisions')
})

test('workers show what they do, and who is silent is said to be', async () => {
  await using harness = await openConsoleHarness()
  await allRight(harness)
  const { pool } = harness.ferry
  await recordWorker(pool, 'two', null, ['default'])
  await pool.query(`update ferry.workers set seen_at = seen_at - interval '2 minutes' where holder = 'two'`)
  const lease = await acquireLease(pool, leaseNameOf(NEW_RUN), 'one', pino({ level: 'silent' }))
  if ('heldBy' in lease) throw new Error('somebody else has the lease')
  const run = await startRun(pool, NEW_RUN, lease)
  const { text } = await harness.page('/')
  expect(text).toContain(
    `reading alert-rules of <bdi>default</bdi> (<a href="/ledger/runs/${run}">run ${run}</a>)`,
  )
  expect(text).toContain('data-announce="Worker two">silent<')
  expect(text).toContain('idle')
  await lease.release()
  // A command works in a process of its own, which is no worker.
  const other = { ...NEW_RUN, resource: 'mcp-servers' } as const
  const own = await acquireLease(pool, leaseNameOf(other), 'three', pino({ level: 'silent' }))
  if ('heldBy' in own) throw new Error('somebody else has the lease')
  const byHand = await startRun(pool, other, own)
  const rows = cellsOfAll((await harness.page('/')).text, 'Workers')
  expect(rows.find(([, , state]) => state === 'command')?.slice(0, 4)).toEqual([
    'three',
    '',
    'command',
    `reading mcp-servers of default (run ${byHand})`,
  ])
  await own.release()
})

test('an import whose account no worker has needs attention, though all is well besides', async () => {
  await using harness = await openConsoleHarness()
  await allRight(harness)
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 4, status: 'running', account: 'other' })
  await ageImport(pool, id, '20 minutes')
  const { text } = await harness.page('/')
  expect(verdictIn(text)).toEqual([
    'bad',
    `No worker sends import ${id}, and import ${id} has sent 0 of 4 rows.`,
  ])
  expect(text).toContain(`No worker sends <a href="/imports/${id}">import ${id}</a>`)
})

test('a running import is named with how far it is, and that its calls get no answer', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  await allRight(harness)
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 10, batchRows: 2 })
  await sendBatches(pool, id, [ACCEPTED])
  const well = `All 2 inventories are fresh, one worker is alive, import ${id} has sent 2 of 10 rows, and nothing waits for a decision.`
  const { text } = await harness.page('/', READ_TOKEN)
  expect(verdictIn(text)).toEqual(['good', well])
  expect(text).toContain(`<a href="/imports/${id}">import ${id}</a> has sent`)
  await sendBatches(pool, id, [LOST, LOST])
  const failing = `The last 2 calls of import ${id} failed, and import ${id} has sent 2 of 10 rows.`
  expect(verdictIn((await harness.page('/', READ_TOKEN)).text)).toEqual(['warn', failing])
})

test('limits of the last hour are drawn, with calls that were refused', async () => {
  await using harness = await openConsoleHarness()
  await allRight(harness)
  const { pool } = harness.ferry
  await pool.query('update ferry.platform_limits set calls_per_minute = 60')
  await pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status)
     select l.limit_key, 'default', l.operation, now() - n * interval '1 minute', now() - n * interval '1 minute', now(),
       case n when 5 then 429 else 200 end
     from ferry.platform_limits l, unnest(array_fill(10, array[5]) || array(select generate_series(1, 30))) n
     where l.operation = 'list-alert-rules'`,
  )
  const { text } = await harness.page('/')
  expect(text).toContain('Limits used in the last hour')
  expect(text).toContain('<svg')
  // Nobody has to open anything to see that calls were refused.
  expect(text).not.toContain('id="calls"')
  expect(text).toContain('<span class="badge warn">1</span>')
  const uses = cellsOf(text, 'Calls of the last hour')
  expect(uses[0]).toMatchObject(['list-alert-rules', 'default', expect.any(String), '10 %', '1'])
})

test('names of others stay text', async () => {
  await using harness = await openConsoleHarness()
  const names = ['<script>alert(1)</script>', `"><img onerror=x>\u202e`, `😀${'x'.repeat(3_000)}`]
  const { pool } = harness.ferry
  for (const account of names) {
    await saveFreshnessTargets(pool, [{ ...HOURLY, account }])
    await pool.query(
      `insert into ferry.workers (holder, host, pid, version, accounts, started_at, seen_at)
       values ($1, $1, 1, $1, '{}', now(), now())`,
      [account],
    )
    await stageRows(pool, { account, status: 'paused', rows: 1 })
    await pool.query(
      `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs)
       values ($1, 'mcp-servers', 1, 1, '{a}', '{1}')`,
      [account],
    )
  }
  const { status, text } = await harness.page('/')
  expect(status).toBe(200)
  expect(text).not.toMatch(/<script>alert|<img onerror/)
  expect(text).toContain('&lt;script&gt;')
})

test('what is late, and schedules that failed or are paused, come first', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await saveFreshnessTargets(pool, [HOURLY, { ...HOURLY, resource: 'mcp-servers', folders: null }])
  await harness.sync()
  await harness.query(
    `insert into ferry.schedule_slots (account, schedule, slot, done_at, outcome)
     values ('default', 'snapshot-inventory', now(), now(), 'failed')`,
  )
  await pauseSchedule(pool, [{ schedule: 'prune', account: '*' } as never], 'prune', undefined, ADA)
  const { text } = await harness.page('/')
  expect(cellsOfAll(text, 'Freshness').map(([, inventory, state]) => [inventory, state])).toEqual([
    ['mcp-servers', 'never'],
    ['alert-rules', 'fresh'],
  ])
  const schedules = cellsOfAll(text, 'Schedules').map(([name]) => name)
  expect(schedules.slice(0, 2)).toEqual(['snapshot-inventory', 'prune'])
  // Which of the others is due next depends on what time it is.
  expect(schedules.slice(2).sort()).toEqual(['poll-alert-rules', 'poll-mcp-servers'])
})

test('a limit that accounts share is one, whichever of them called in a minute', () => {
  const operation = 'list-alert-rules'
  const minutes = ['a', 'a, b', 'b', 'c', 'd'].map((account, n) => {
    return { minute: new Date(n * 60_000), account, operation, calls: 1, share: 0.1 * n, refused: 0 }
  })
  const configured = ['a', 'b', 'c'].map(account => {
    const limit = { limitKey: account === 'c' ? 'account:c' : 'group:g', windows: [] }
    return { account, operation, limit }
  })
  const page = limits(
    { limits: minutes } as unknown as NowFacts,
    { limits: configured, timezone: 'UTC' },
    new Date(300_000),
  )
  expect(cellsOf(`${page}`, 'Calls of the last hour').map(([, account, calls]) => [account, calls])).toEqual([
    ['d', '1'],
    ['c', '1'],
    ['a, b', '3'],
  ])
})
