import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { stageRows } from '#test/support/staged.ts'
import { type Calls, countedCalls, maxInWindows, paceOf, sandboxNow } from './support/counted-calls.ts'
import { atLeast, atMost, type Figure } from './support/figures.ts'
import { type Bench, type Lab, settingsFor } from './support/lab.ts'
import { end, type SandboxProcess } from './support/sandbox-process.ts'
import { migrateQueue, startWorker } from './support/worker-process.ts'

type Scenario = {
  readonly what: string
  readonly workers: number
  /** The worker at work is killed half-way. */
  readonly kill: boolean
  readonly answerMs: number
  readonly pace: number
}

const REAL = {
  windows: [
    { most: 2, ms: 1_000 },
    { most: 20, ms: 60_000 },
  ],
  boundMs: 5_000,
  lastsMs: 610_000,
  scenarios: [
    { what: 'one worker', workers: 1, kill: false, answerMs: 100, pace: 99 },
    { what: 'four workers, one killed', workers: 4, kill: true, answerMs: 100, pace: 97 },
    { what: 'one worker, answers after 10 s', workers: 1, kill: false, answerMs: 10_000, pace: 90 },
  ],
} as const

/** Ten times as fast; a lease is not, so a kill costs a whole window here. */
const SCALED = {
  windows: [
    { most: 2, ms: 100 },
    { most: 20, ms: 6_000 },
  ],
  boundMs: 500,
  lastsMs: 31_000,
  scenarios: [
    { what: 'one worker', workers: 1, kill: false, answerMs: 10, pace: 90 },
    { what: 'four workers, one killed', workers: 4, kill: true, answerMs: 10, pace: 70 },
    { what: 'one worker, answers after 1 s', workers: 1, kill: false, answerMs: 1_000, pace: 80 },
  ],
} as const

/**
 * How near imports come to the limit without ever passing it, as the receiver counts: by `ferry worker` as it is, on
 * four imports of four pages. With --long at the contract's limits, ten minutes for each line; else ten times as fast.
 */
export const importPacing: Bench = async lab => {
  const figures: Figure[] = []
  for (const scenario of lab.long ? REAL.scenarios : SCALED.scenarios) {
    await using opened = new AsyncDisposableStack()
    figures.push(...(await play(lab, scenario, opened)))
  }
  return figures
}

async function play(lab: Lab, scenario: Scenario, opened: AsyncDisposableStack): Promise<Figure[]> {
  const { windows, boundMs, lastsMs } = lab.long ? REAL : SCALED
  const limits = windows.map(({ most, ms }) => ({ max: most, windowMs: ms }))
  const sandbox = await lab.openSandbox({
    answerMs: scenario.answerMs,
    limits: { 'import-subscribers': limits },
  })
  const settings = settingsFor(await lab.openDatabase(), sandbox, {
    FERRY_IMPORT_LIMIT: windows.map(({ most, ms }) => `${most}/${ms}ms`).join(),
    FERRY_ARRIVAL_BOUND: `${boundMs}ms`,
    FERRY_LOG_LEVEL: 'error',
  })
  await migrateQueue(settings)
  const ferry = await lab.openFerry(settings)
  const client = await lab.connect(settings.DATABASE_URL ?? '')
  const durationMs = lab.size(lastsMs, 10_000)
  for (let page = 1; page <= 4; page++) {
    await sandbox.admin('add-page', { pageId: `${page}` })
    await stageRows(ferry.pool, {
      pageId: BigInt(page),
      batchRows: 5,
      rows: 5 * batchesIn(durationMs, windows[1]),
    })
  }

  const workers = await Promise.all(
    Array.from({ length: scenario.workers }, () => startWorker(lab, settings)),
  )
  opened.defer(async () => void (await Promise.all(workers.map(end))))
  await firstCall(sandbox)
  await delay(durationMs / 2)
  const dead = scenario.kill ? await killOneAtWork(client, workers) : null
  await delay(durationMs / 2)
  const endedAtMs = sandboxNow(sandbox)
  const lost = workers.find(worker => worker !== dead && worker.exitCode !== null)
  if (lost) throw new Error(`a worker ended that should not have: ${lost.exitCode}`)
  await Promise.all(workers.map(end))
  return judgeCalls(scenario, sandbox, await countedCalls(sandbox, endedAtMs), windows)
}

async function judgeCalls(
  { what, pace }: Scenario,
  sandbox: SandboxProcess,
  calls: Calls,
  windows: (typeof REAL | typeof SCALED)['windows'],
): Promise<Figure[]> {
  const [, long] = windows
  const silentMs = calls.endMs - (calls.times.at(-1) ?? 0)
  if (silentMs > 2 * long.ms) throw new Error(`${what}: no call came in the last ${silentMs} ms`)
  return [
    ...(await maxInWindows(sandbox, windows)).map(figure => ({
      ...figure,
      measure: `${what}: ${figure.measure}`,
    })),
    {
      measure: `${what}: answers of 429, of ${calls.times.length}`,
      value: calls.refused,
      unit: 'calls',
      wanted: atMost(0, { always: true }),
    },
    {
      measure: `${what}: calls made of those possible after the first burst`,
      value: paceOf(calls, long),
      unit: '%',
      wanted: atLeast(pace),
    },
  ]
}

/** More than any schedule within the limit can send. */
function batchesIn(durationMs: number, { most, ms }: { most: number; ms: number }): number {
  return most * (2 + Math.ceil(durationMs / ms))
}

async function firstCall(sandbox: SandboxProcess): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const { received } = await sandbox.admin<{ received: number }>('counts')
    if (received > 0) return
    await delay(100)
  }
  throw new Error('the workers made no call')
}

/** Kills a worker that holds an import's lease, and returns it. */
async function killOneAtWork(client: Client, workers: readonly ChildProcess[]): Promise<ChildProcess> {
  for (let tries = 0; tries < 100; tries++) {
    const { rows } = await client.query<{ holder: string }>(
      `select holder from ferry.leases where name like 'import:%' and expires_at > clock_timestamp()`,
    )
    const worker = workers.find(({ pid }) => rows.some(({ holder }) => holder.includes(`:${pid}:`)))
    if (worker) {
      await end(worker)
      return worker
    }
    await delay(50)
  }
  throw new Error('no worker held an import')
}
