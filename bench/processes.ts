import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { atMost, type Figure, median } from './support/figures.ts'
import { type Bench, type Lab, settingsFor } from './support/lab.ts'
import { end } from './support/sandbox-process.ts'

const run = promisify(execFile)
const FERRY = fileURLToPath(new URL('../src/cli/ferry.ts', import.meta.url))

/** How soon the command line answers, and what a worker with nothing to do takes of the memory. */
export const processes: Bench = async lab => [
  {
    measure: 'ferry --help',
    value: await medianOfRuns(lab, [FERRY, '--help']),
    unit: 'ms',
    wanted: atMost(150),
  },
  { measure: 'node that does nothing', value: await medianOfRuns(lab, ['--eval', '0']), unit: 'ms' },
  await idleWorker(lab),
]

async function medianOfRuns(lab: Lab, args: readonly string[]): Promise<number> {
  const tookMs: number[] = []
  for (let time = 0; time < lab.size(10, 3); time++) {
    const startedAtMs = performance.now()
    await run(process.execPath, args)
    tookMs.push(performance.now() - startedAtMs)
  }
  return median(tookMs)
}

async function idleWorker(lab: Lab): Promise<Figure> {
  const sandbox = await lab.openSandbox({})
  const settings = settingsFor(await lab.openDatabase(), sandbox)
  const worker = spawn(process.execPath, [FERRY, 'worker', '--json'], {
    env: settings,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  lab.defer(() => end(worker))
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`the worker ended with ${code}`)
  })
  await Promise.race([once(worker.stdout, 'data'), ended])
  await Promise.race([delay(lab.size(20_000, 5_000)), ended])
  ended.catch(() => {}) // from here on it may
  return {
    measure: 'an idle worker, resident',
    value: await residentMb(worker.pid),
    unit: 'MB',
    wanted: atMost(150),
  }
}

/** Linux only. */
async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6
}
