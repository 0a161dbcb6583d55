import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { LEASE_MS } from '#src/db/leases.ts'
import type { Ferry } from '#src/ferry.ts'
import type { Delivered } from '#src/sandbox/state.ts'
import { disagreements, ledgerOf, rowsUnaccounted } from '#test/support/import-ledger.ts'
import { stageRows } from '#test/support/staged.ts'
import { accountNames, accountSettings } from './support/accounts.ts'
import { countedCalls, maxInWindows, sandboxNow } from './support/counted-calls.ts'
import { atLeast, atMost } from './support/figures.ts'
import {
  allReadSince,
  countOverlaps,
  type Loss,
  loadLosses,
  loadWorstAges,
} from './support/inventory-ages.ts'
import type { Bench, Lab } from './support/lab.ts'
import { cleanUpRedis, hasRedis, REDIS_URL } from './support/redis.ts'
import { end, type SandboxProcess } from './support/sandbox-process.ts'
import { migrateQueue, startWorker } from './support/worker-process.ts'

const WORKERS = 4
const ACCOUNTS = 10
const RULES = 20
const POLL_MS = 2_000
/** The contract's limit of imports, ten times as fast. */
const WINDOWS = [
  { most: 2, ms: 100 },
  { most: 20, ms: 6_000 },
] as const
const ROWS_A_CALL = 5
/** Of the sandbox, each account one of its own; `add-key` takes any number. */
const accountIdOf = (number: number) => 9_000_000_000_000n + BigInt(number)
const pageIdOf = (number: number) => 7_000_000_000_000n + BigInt(number)

/**
 * Four workers, ten accounts, syncs every two seconds and imports at once, while the rules change; one worker after the
 * other is killed, and started again. Judged:
 *
 * - The platform, whose limits are on, refuses no call, and counts no more in any window than it allows.
 * - No two runs of one inventory overlap. The run of a killed worker ends when another one takes over.
 * - The rules of an account are never older than three intervals. If the worker that was reading them was killed, its
 *   lease (15 s) must end first, so then they may be older by that.
 * - Every row of the imports is accounted for, and the platform has what the ledger says.
 */
export const scaleOut: Bench = async lab => {
  const sandbox = await openPlatform(lab)
  const databaseUrl = await lab.openDatabase()
  const client = await lab.connect(databaseUrl)
  const settings = {
    DATABASE_URL: databaseUrl,
    ...(await accountSettings(lab, sandbox, accountNames(ACCOUNTS), accountIdOf)),
    FERRY_POLL_EVERY: `${POLL_MS}ms`,
    FERRY_IMPORT_LIMIT: WINDOWS.map(({ most, ms }) => `${most}/${ms}ms`).join(),
    FERRY_ARRIVAL_BOUND: '2s',
    FERRY_LOG_LEVEL: 'error',
    ...((await hasRedis()) && { REDIS_URL }),
  }
  await migrateQueue(settings)
  if ('REDIS_URL' in settings) await cleanUpRedis(lab, client)
  const ferry = await lab.openFerry(settings)
  const durationMs = lab.size(90_000, 15_000)
  const imports = await stageImports(ferry, durationMs)

  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(lab, settings)))
  const since = await allRead(client)
  const changing = setInterval(() => sandbox.admin('mutate', { count: 5 }).catch(() => {}), 500)
  lab.defer(async () => clearInterval(changing))
  const { kills, losses } = await killInTurn(lab, client, workers, settings, durationMs)
  clearInterval(changing)
  const connections = await countConnections(client)
  const ages = await loadWorstAges(client, since, losses)
  const overlaps = await countOverlaps(client)
  const endedAtMs = sandboxNow(sandbox)
  await Promise.all(workers.map(end))
  const calls = await countedCalls(sandbox, endedAtMs)
  const threeIntervalsS = (3 * POLL_MS) / 1000
  return [
    ...(await maxInWindows(sandbox, WINDOWS)),
    {
      measure: `answers of 429, of ${calls.times.length} imports and all listings`,
      value: await countRefused(sandbox),
      unit: 'calls',
      wanted: atMost(0, { always: true }),
    },
    {
      measure: `runs that overlap another one of their inventory, of ${await countRuns(client)}`,
      value: overlaps,
      unit: 'runs',
      wanted: atMost(0, { always: true }),
    },
    {
      measure: `worst age of an account's rules, polled every ${POLL_MS / 1000} s`,
      value: ages.undisturbed,
      unit: 's',
      wanted: atMost(threeIntervalsS),
    },
    {
      measure: `the same where the worker that read them was killed (${losses.length} times, by ${kills} kills)`,
      value: ages.afterLoss,
      unit: 's',
      wanted: atMost(threeIntervalsS + LEASE_MS / 1000),
    },
    {
      measure: `imports whose rows do not add up, of ${imports.length}`,
      value: await countWrong(ferry, sandbox, imports),
      unit: 'imports',
      wanted: atMost(0, { always: true }),
    },
    {
      measure: 'calls of the import that made the fewest, of those possible',
      value: (100 * (await fewestCalls(client))) / possibleCalls(durationMs),
      unit: '%',
      wanted: atLeast(50),
    },
    { measure: `connections to Postgres of ${WORKERS} workers`, value: connections, unit: 'connections' },
  ]
}

/** A platform with limits, and as many accounts, rules and status pages. */
async function openPlatform(lab: Lab): Promise<SandboxProcess> {
  const limits = { 'import-subscribers': WINDOWS.map(({ most, ms }) => ({ max: most, windowMs: ms })) }
  const sandbox = await lab.openSandbox({ limits, rules: 0, answerMs: [0, 40] })
  for (let number = 0; number < ACCOUNTS; number++) {
    await sandbox.admin('add-page', { pageId: `${pageIdOf(number)}` })
    for (let added = 0; added < RULES; added++) {
      await sandbox.admin('add-rule', { fields: { account_id: `${accountIdOf(number)}` } })
    }
  }
  return sandbox
}

type StagedImport = { readonly id: bigint; readonly pageId: bigint }

/** An import for each account, of more rows than the limit lets through. */
function stageImports(ferry: Ferry, durationMs: number): Promise<StagedImport[]> {
  return Promise.all(
    accountNames(ACCOUNTS).map(async (account, number) => {
      const pageId = pageIdOf(number)
      const rows = ROWS_A_CALL * 2 * possibleCalls(durationMs)
      return { id: await stageRows(ferry.pool, { account, pageId, rows, batchRows: ROWS_A_CALL }), pageId }
    }),
  )
}

/** How many calls the limit lets an account make: the first burst, and then as many in each longest window. */
function possibleCalls(durationMs: number): number {
  const [, { most, ms }] = WINDOWS
  return Math.floor(most * (1 + durationMs / ms))
}

/** Resolves with the instant from which every account has its rules. */
async function allRead(client: Client): Promise<Date> {
  for (let tries = 0; tries < 300; tries++) {
    const since = await allReadSince(client, ACCOUNTS)
    if (since) return since
    await delay(100)
  }
  throw new Error('not every account was read')
}

/** Kills one worker after the other for so long, and starts it again. Returns what they were reading then. */
async function killInTurn(
  lab: Lab,
  client: Client,
  workers: ChildProcess[],
  settings: Record<string, string>,
  durationMs: number,
): Promise<{ kills: number; losses: readonly Loss[] }> {
  const losses: Loss[] = []
  const killEveryMs = lab.size(20_000, 5_000)
  const untilMs = performance.now() + durationMs
  let kills = 0
  let starting: Promise<void> = Promise.resolve()
  while (performance.now() + killEveryMs < untilMs) {
    await Promise.all([delay(killEveryMs), starting])
    const turn = kills++ % WORKERS
    const worker = workers[turn] as ChildProcess
    await end(worker)
    losses.push(...(await loadLosses(client, worker.pid ?? 0)))
    starting = startWorker(lab, settings).then(started => {
      workers[turn] = started
    })
  }
  await Promise.all([delay(Math.max(0, untilMs - performance.now())), starting])
  return { kills, losses }
}

async function countRefused(sandbox: SandboxProcess): Promise<number> {
  const received = await sandbox.admin<{ status: number | null }[]>('received')
  return received.filter(({ status }) => status === 429).length
}

/** Imports of which a row is missing, in two places, or not at the platform as often as the ledger admits. */
async function countWrong(
  { pool }: Ferry,
  sandbox: SandboxProcess,
  imports: readonly StagedImport[],
): Promise<number> {
  const wrong = await rowsUnaccounted(pool)
  for (const { id, pageId } of imports) {
    const delivered = await sandbox.admin<Delivered[]>('list-subscribers', { pageId: `${pageId}` })
    wrong.push(...disagreements(await ledgerOf(pool, id), delivered).slice(0, 1))
  }
  for (const words of wrong) console.error(words)
  return wrong.length
}

async function countRuns(client: Client): Promise<number> {
  return numberOf(client, `select count(*) from ferry.sync_runs where status <> 'skipped'`)
}

async function fewestCalls(client: Client): Promise<number> {
  return numberOf(
    client,
    `select min(calls) from (select (select count(*) from ferry.platform_calls c where c.account = i.account
       and c.operation = 'import-subscribers') as calls from ferry.imports i) c`,
  )
}

async function countConnections(client: Client): Promise<number> {
  return numberOf(
    client,
    `select count(*) from pg_stat_activity where datname = current_database()
       and application_name not in ('ferry bench')`,
  )
}

async function numberOf(client: Client, query: string): Promise<number> {
  const { rows } = await client.query({ text: query, rowMode: 'array' })
  return Number(rows[0]?.[0])
}
