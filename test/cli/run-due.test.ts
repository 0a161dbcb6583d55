import { once } from 'node:events'
import { expect, test } from 'vitest'
import { cancelImport, pauseImport } from '#src/imports/control/decide.ts'
import { startRun } from '#src/inventory/runs/ledger.ts'
import { leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { pauseSchedules } from '#src/schedules/control.ts'
import { openReceiver, SECRET } from '#test/notify/receiver.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { expireLeases, holdLease } from '#test/support/leases.ts'
import { NEW_RUN } from '#test/support/runs.ts'
import { openScriptedWorker } from '#test/support/scripted-worker.ts'
import { listSlots } from '#test/support/slots.ts'
import { stageRows } from '#test/support/staged.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { accountsFile, type Cli, openCli } from './open-cli.ts'
import { type Ended, jsonLines } from './run-ferry.ts'

/** What is polled is due once. */
const RARELY = { FERRY_POLL_EVERY: '500h', FERRY_MCP_POLL_EVERY: '500h' }
const FAST = { ...RARELY, FERRY_IMPORT_LIMIT: '50/1s' }

/** Without schedules: what is left is imports. */
async function pauseAll(cli: Cli): Promise<void> {
  const names = ['poll-alert-rules', 'poll-mcp-servers', 'snapshot-inventory']
  await pauseSchedules(
    cli.ferry.pool,
    names.map(schedule => ({ schedule, account: 'default' })),
    ADA,
  )
}

const done = (ended: Ended) =>
  jsonLines(ended).map(({ done, left, schedule, account, outcome, name, status }) =>
    [done ?? `${left} left`, schedule ?? name, account, outcome ?? status].filter(Boolean).join(' '),
  )
const subscribed = (cli: Cli) => cli.sandbox.state.subscribers.count(SANDBOX_PAGE_ID, 'email')
const importCalls = (cli: Cli) =>
  cli.sandbox.state.received.filter(({ operation }) => operation === 'import-subscribers')

test('does what is due of every account, in one process and without a queue, and then nothing', async () => {
  await using cli = await openCli({ rules: 3, servers: 2 }, { ...RARELY, REDIS_URL: 'redis://127.0.0.1:1' })
  const account = (name: string) => ({
    name,
    baseUrl: cli.sandbox.baseUrl,
    appKeyEnv: 'KEY',
    limitGroup: 'one',
  })
  const env = {
    FERRY_BASE_URL: '',
    FERRY_APP_KEY: '',
    FERRY_ACCOUNTS_FILE: accountsFile(account('a'), account('b')),
    KEY: cli.sandbox.appKey,
  }
  const first = await cli.ferryRun('run-due --json', env)
  expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' })
  const schedules = done(first).filter(line => line.startsWith('schedule '))
  for (const name of ['a', 'b']) expect(schedules).toContain(`schedule snapshot-inventory ${name} succeeded`)
  expect(schedules).toHaveLength(6)
  expect(await cli.query('select account from ferry.snapshots order by 1')).toEqual([
    { account: 'a' },
    { account: 'b' },
  ])
  expect(await cli.query(`select account from ferry.freshness where state <> 'fresh'`)).toEqual([])
  expect(await cli.ferryRun('run-due --json', env)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await cli.ferryRun('run-due', env)).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

test('sends what the limit allows now, says what is left and exits 3; until idle, it goes on to the end', async () => {
  await using cli = await openCli({}, { ...RARELY, FERRY_IMPORT_LIMIT: '3/6s' })
  await pauseAll(cli)
  const id = await stageRows(cli.ferry.pool, { rows: 8, batchRows: 1 })
  const now = await cli.ferryRun('run-due --json')
  expect(now.code).toBe(3)
  expect(done(now)).toEqual([`import default running`, `import left ${id} default`])
  expect(subscribed(cli)).toBe(3)
  const next = await stageRows(cli.ferry.pool, { rows: 2 })
  const people = await cli.ferryRun('run-due')
  expect(people.code).toBe(3)
  expect(people.stderr).toContain(`ferry: left: import ${id} of account default is running: 5 rows to go`)
  expect(people.stderr).toContain(`ferry: left: import ${next} of account default is queued: 2 rows to go`)
  await cancelImport(cli.ferry.pool, next, ADA)

  const idle = await cli.ferryRun('run-due --until-idle --json')
  expect({ code: idle.code, done: done(idle) }).toEqual({ code: 0, done: ['import default completed'] })
  expect(jsonLines(idle)[0]).toMatchObject({ import: `${id}`, read: 8, sent: 8, pending: 0, uncertain: 0 })
  expect(importCalls(cli)).toHaveLength(8)
})

test('delivers the messages that wait, and says so if the receiver does not take them', async () => {
  await using cli = await openCli({ rules: 2, servers: 1 }, FAST)
  await using receiver = await openReceiver()
  const env = { FERRY_WEBHOOK_URL: receiver.url, FERRY_WEBHOOK_SECRET: SECRET }
  const id = await stageRows(cli.ferry.pool, { rows: 2 })
  expect((await cli.ferryRun('run-due', env)).code).toBe(0)
  expect(receiver.messages().map(({ type, data }) => [type, data.import])).toEqual([
    ['import.completed', `${id}`],
  ])

  receiver.answer = response => void response.writeHead(500).end()
  await stageRows(cli.ferry.pool, { rows: 2 })
  const { code, stderr } = await cli.ferryRun('run-due', env)
  expect(code).toBe(3)
  expect(stderr).toMatch(/^ferry: left: 1 message to webhook waits to be sent again/m)
})

test('several at once, beside a worker, do everything once', async () => {
  await using cli = await openCli({ rules: 5, servers: 2 }, FAST)
  const ids = [
    await stageRows(cli.ferry.pool, { rows: 40, batchRows: 1 }),
    await stageRows(cli.ferry.pool, { rows: 40, batchRows: 1, recipient: line => `b${line}@example.com` }),
  ]
  await using worker = cli.ferryStart('worker --json')
  await using one = cli.ferryStart('run-due --until-idle --json')
  await using two = cli.ferryStart('run-due --until-idle --json')
  const ended = [await one.ended, await two.ended]
  for (const { code, stderr } of ended)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
  const completed = () => cli.query(`select from ferry.imports where status = 'completed'`)
  await waitFor(async () => (await completed()).length === ids.length, {
    what: 'both imports',
  })
  expect(subscribed(cli)).toBe(80)
  expect(importCalls(cli)).toHaveLength(80)
  const slots = await listSlots(cli.ferry.pool)
  expect(slots.map(({ schedule }) => schedule).sort()).toEqual([
    'poll-alert-rules',
    'poll-mcp-servers',
    'snapshot-inventory',
  ])
  expect(await cli.query('select count(*)::int as n from ferry.snapshots')).toEqual([{ n: 1 }])
  worker.child.kill('SIGTERM')
  await worker.ended
})

test('killed half-way, nothing is lost: the next one goes on', async () => {
  await using cli = await openCli(
    {},
    { ...RARELY, FERRY_IMPORT_LIMIT: '20/1s', FERRY_REQUEST_TIMEOUT: '2s', FERRY_ARRIVAL_BOUND: '1s' },
  )
  await pauseAll(cli)
  const id = await stageRows(cli.ferry.pool, { rows: 60, batchRows: 1 })
  await using killed = cli.ferryStart('run-due --until-idle')
  await waitFor(() => importCalls(cli).length > 10, { what: 'some calls' })
  killed.child.kill('SIGKILL')
  await once(killed.child, 'exit')
  const [import_] = await cli.query<{ sent: number }>('select sent from ferry.imports')
  expect(import_!.sent).toBeLessThan(60)
  // Until the lease of the dead one is over, another process has the import.
  await waitFor(
    async () => {
      const { code } = await cli.ferryRun('run-due --until-idle')
      expect(code).toBe(0)
      const [row] = await cli.query<{ status: string }>('select status from ferry.imports')
      return row!.status === 'completed'
    },
    { what: 'the import to be completed' },
  )
  expect(subscribed(cli)).toBe(60)
  const [line] = jsonLines(await cli.ferryRun(`imports show ${id} --json`))
  expect(line).toMatchObject({ read: 60, sent: 60, pending: 0, uncertain: 0 })
})

test('ends what a lost worker left in flight, also of an import that nobody works on', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 }, FAST)
  await pauseAll(cli)
  const { pool } = cli.ferry
  const id = await stageRows(pool, { rows: 2 })
  await using worker = await openScriptedWorker(pool, id)
  await worker.claim()
  await pauseImport(pool, id, ADA)
  await ageImport(pool, id, '1 hour')
  expect(await cli.query('select state from ferry.import_batches')).toEqual([{ state: 'in flight' }])
  await startRun(pool, NEW_RUN, await holdLease(pool, leaseNameOf(NEW_RUN)))
  await expireLeases(pool, 31_000)
  const { stderr } = await cli.ferryRun('run-due')
  expect(stderr).toContain('A run was marked failed: its worker was lost.')
  expect(await cli.query('select status from ferry.sync_runs')).toEqual([{ status: 'failed' }])
  expect(await cli.query('select state, resends from ferry.import_batches')).toEqual([
    { state: 'ready', resends: 1 },
  ])
  expect(importCalls(cli)).toHaveLength(0)
})

test('a signal lets the call in flight end, gives the rest back, and exits 130', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 }, FAST)
  await pauseAll(cli)
  await stageRows(cli.ferry.pool, { rows: 5, batchRows: 1 })
  const answer = Promise.withResolvers<undefined>()
  cli.sandbox.state.onCall(() => answer.promise)
  await using running = cli.ferryStart('run-due --until-idle')
  await waitFor(() => importCalls(cli).length === 1, { what: 'the first call' })
  running.child.kill('SIGTERM')
  await running.printed('finishing what is under way')
  answer.resolve(undefined)
  expect(await running.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('4 rows to go') })
  cli.sandbox.state.onCall(null)
  expect(await cli.query('select sent, uncertain from ferry.imports')).toEqual([{ sent: 1, uncertain: 0 }])
  expect((await cli.ferryRun('run-due --until-idle')).code).toBe(0)
  expect(subscribed(cli)).toBe(5)
})

test('until idle also does what a person asks for meanwhile', async () => {
  await using cli = await openCli({ rules: 2, servers: 0 }, RARELY)
  const answer = Promise.withResolvers<undefined>()
  cli.sandbox.state.onCall(() => answer.promise)
  await using running = cli.ferryStart('run-due --until-idle --json')
  await waitFor(() => cli.sandbox.state.received.length > 0, { what: 'the first call' })
  const { pool } = cli.ferry
  await waitFor(async () => (await listSlots(pool)).length === 3, { what: 'all to have begun' })
  expect((await cli.ferryRun('schedules run poll-alert-rules')).code).toBe(0)
  answer.resolve(undefined)
  const polls = done(await running.ended).filter(line => line.startsWith('schedule poll-alert-rules'))
  expect(polls).toHaveLength(2)
})

test('exits 5 while something waits for a decision, and 4 if the platform refuses the key', async () => {
  await using cli = await openCli({ rules: 30, servers: 1 }, FAST)
  expect((await cli.ferryRun('run-due')).code).toBe(0)
  for (const { id } of await cli.query<{ id: string }>('select id::text from ferry.alert_rules limit 25')) {
    cli.sandbox.state.removeRule(BigInt(id))
  }
  await cli.ferryRun('schedules run poll-alert-rules')
  const held = await cli.ferryRun('run-due --json')
  expect({ code: held.code, done: done(held).slice(-1) }).toEqual({
    code: 5,
    done: [expect.stringContaining('removals left')],
  })
  // It goes on waiting, although nothing is due.
  expect(await cli.ferryRun('run-due')).toMatchObject({ code: 5, stdout: '' })
  expect((await cli.ferryRun('run-due --until-idle')).code).toBe(5)

  await cli.query('update ferry.removal_holds set ended_at = clock_timestamp()')
  await cli.ferryRun('schedules run poll-mcp-servers')
  expect((await cli.ferryRun('run-due', { FERRY_APP_KEY: 'wrong' })).code).toBe(4)
})

test('until idle ends although polls become due faster than they are done', async () => {
  const settings = { FERRY_POLL_EVERY: '1s', FERRY_MCP_POLL_EVERY: '1s' }
  await using cli = await openCli({ rules: 2, servers: 1, answerMs: 1_200 }, settings)
  const { code, stdout } = await cli.ferryRun('run-due --until-idle')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('snapshot-inventory') })
})
