import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { FERRY } from './support/ferry-path.ts'
import { atMost } from './support/figures.ts'
import { type Bench, settingsFor } from './support/lab.ts'
import { end } from './support/sandbox-process.ts'

/**
 * What a worker, started as the README says, takes of the memory once it has done what was due and waits for its next
 * schedule.
 */
export const idleWorker: Bench = async lab => {
  const sandbox = await lab.openSandbox({})
  const env = settingsFor(await lab.openDatabase(), sandbox)
  await promisify(execFile)(process.execPath, [FERRY, 'migrate'], { env }) // the queue's tables
  const worker = spawn(process.execPath, ['--max-semi-space-size=2', FERRY, 'worker', '--json'], {
    env: { ...env, FERRY_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  lab.defer(() => end(worker))
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`the worker ended with ${code}`)
  })
  ended.catch(() => {}) // it is ended once it has been measured
  await Promise.race([once(worker.stdout, 'data'), ended])
  await Promise.race([delay(lab.size(20_000, 3_000)), ended])
  const value = await residentMb(worker.pid)
  return [{ measure: 'an idle worker, resident', value, unit: 'MB', wanted: atMost(150) }]
}

/** Linux only. */
async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6
}
