import { expect, test } from 'vitest'
import { pollMcpServers } from '#jobs/poll-mcp-servers.ts'
import { defineSchedules } from '#jobs/schedules.ts'
import { listRuns } from '#src/inventory/runs/list-runs.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { leasesOf } from '#test/support/leases.ts'
import { listSlots } from '#test/support/slots.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { startWorker } from './start-worker.ts'

const POLLS = { jobs: [pollMcpServers] }

/** The poll happens once, when the worker starts. */
const RARELY = { FERRY_MCP_POLL_EVERY: '500h' }

const runsOf = async (harness: FerryHarness) => (await listRuns(harness.ferry.pool, 99)).toReversed()
const slotsOf = async (harness: FerryHarness) =>
  (await listSlots(harness.ferry.pool)).filter(slot => slot.schedule === pollMcpServers.name)

test('keeps MCP servers current by day, one run a slot', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 3 }, { FERRY_MCP_POLL_EVERY: '1s' })
  await using _worker = await startWorker(harness.ferry, POLLS)
  await waitFor(async () => (await runsOf(harness)).length >= 1, { what: 'the first poll' })
  const { server_id: id } = harness.sandbox.state.addServer({ server_name: 'added by day' })
  const known = () => harness.query('select from ferry.mcp_servers where server_id = $1', [id])
  await waitFor(async () => (await known()).length === 1, { what: 'the new server' })
  harness.sandbox.state.removeServer(id)
  await waitFor(async () => (await known()).length === 0, { what: 'its removal' })
  const runs = await runsOf(harness)
  expect(new Set(runs.map(run => `${run.resource} ${run.trigger}`))).toEqual(
    new Set(['mcp-servers schedule']),
  )
  expect(new Set(runs.map(run => run.slot!.getTime())).size).toBe(runs.length)
})

test('a poll that finds the same servers writes its row of the ledger, and nothing else', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 250 }, { FERRY_MCP_POLL_EVERY: '1s' })
  await harness.sync({ resource: 'mcp-servers' })
  /** Whatever writes a row gives it another place and transaction. */
  const written = async () => {
    const rows = (table: string) =>
      harness.query(`select ctid::text, xmin::text from ferry.${table} order by 1`)
    return Promise.all(['mcp_server_versions', 'seen_values', 'quarantined_rows', 'events'].map(rows))
  }
  const before = await written()
  await using _worker = await startWorker(harness.ferry, POLLS)
  const polled = async () => (await runsOf(harness)).filter(run => run.status === 'succeeded')
  await waitFor(async () => (await polled()).length >= 3, { what: 'two polls' })
  expect(await written()).toEqual(before)
  for (const run of (await polled()).slice(1)) {
    expect(run).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 250, requests: 3 })
  }
})

test('is skipped while another run reads the servers', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 3 }, RARELY)
  const answer = Promise.withResolvers<undefined>()
  const called = Promise.withResolvers<void>()
  harness.sandbox.state.onCall(() => {
    called.resolve()
    return answer.promise
  })
  const byHand = harness.sync({ resource: 'mcp-servers' })
  await called.promise
  await using _worker = await startWorker(harness.ferry, POLLS)
  await waitFor(async () => (await slotsOf(harness))[0]?.outcome, { what: 'the poll to be skipped' })
  answer.resolve(undefined)
  expect((await byHand).status).toBe('succeeded')
  expect(await slotsOf(harness)).toMatchObject([{ attempts: 1, outcome: 'skipped' }])
})

test('goes on once the lease is over when its worker was lost', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 3 }, RARELY)
  harness.sandbox.state.inject({ kind: 'hang' })
  const lost = await startWorker(harness.ferry, POLLS)
  await waitFor(() => harness.sandbox.state.received.length === 1, { what: 'the poll to wait' })
  // What a worker that died leaves: its lease, which nobody renews.
  await harness.query(
    `update ferry.leases set token = gen_random_uuid(), expires_at = clock_timestamp() + interval '2 s'`,
  )
  harness.sandbox.state.clearFaults()
  const lease = (await leasesOf(harness.ferry.pool)).find(({ name }) => name.startsWith('sync:'))
  await using _other = await startWorker(await harness.openFerry(), POLLS)
  await waitFor(async () => (await slotsOf(harness))[0]?.outcome === 'succeeded', {
    what: 'the next run',
  })
  const last = (await runsOf(harness)).at(-1)
  expect(last).toMatchObject({ status: 'succeeded', trigger: 'schedule' })
  expect(last!.startedAt.getTime()).toBeGreaterThanOrEqual(lease!.expiresAt.getTime())
  await lost.drain(5_000)
})

test('is given back when its worker is told to stop, and another does it', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 3 }, RARELY)
  harness.sandbox.state.inject({ kind: 'hang' })
  await using first = await startWorker(harness.ferry, POLLS)
  await waitFor(() => harness.sandbox.state.received.length === 1, { what: 'the poll to wait' })
  await first.drain(5_000)
  expect(await slotsOf(harness)).toMatchObject([{ attempts: 0, outcome: null }])
  harness.sandbox.state.clearFaults()
  await using _second = await startWorker(harness.ferry, POLLS)
  await waitFor(async () => (await slotsOf(harness))[0]?.outcome, { what: 'the second worker' })
  expect(await slotsOf(harness)).toMatchObject([{ attempts: 1, outcome: 'succeeded' }])
})

test('is not tried again when it failed: the next slot comes soon enough', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 3 }, RARELY)
  harness.sandbox.state.inject({ kind: 'error', code: 'InvalidParameter' })
  await using _worker = await startWorker(harness.ferry, POLLS)
  await waitFor(async () => (await slotsOf(harness))[0]?.outcome, { what: 'the poll to fail' })
  expect(await slotsOf(harness)).toMatchObject([{ attempts: 1, outcome: 'failed' }])
})

test('keeps to the limit that its key has, however often it polls', async () => {
  await using harness = await openFerryHarness(
    { rules: 0, servers: 30 },
    { FERRY_MCP_POLL_EVERY: '1s', FERRY_PAGE_LIMIT: '10', FERRY_LIST_LIMIT: '5/2s' },
  )
  await using _worker = await startWorker(harness.ferry, POLLS)
  await waitFor(() => harness.sandbox.state.received.length >= 14, {
    what: 'several polls',
  })
  const { counted } = (
    await harness.query<{ counted: number }>(
      `select max(n)::int as counted from (
         select count(*) over (order by finished range between interval '2 s' preceding and current row) as n
         from ferry.platform_calls where operation = 'list-mcp-servers' and finished is not null) w`,
    )
  )[0]!
  expect(counted).toBeLessThanOrEqual(5)
})

test('has no schedule while it is off', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 }, { FERRY_MCP_POLL_EVERY: 'off' })
  expect(defineSchedules(harness.ferry).map(({ name }) => name)).toEqual([
    'poll-alert-rules',
    'snapshot-inventory',
    'prune',
  ])
})

test('its runs are told, for the log of the worker', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 3 })
  const never = new AbortController().signal
  const call = { account: 'default', trigger: 'schedule' } as const
  const outcome = await pollMcpServers.run(harness.ferry, call, { signal: never, cutOff: never })
  expect(outcome).toMatchObject({ status: 'succeeded', runs: [{ resource: 'mcp-servers', added: 3 }] })
})
