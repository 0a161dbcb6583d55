import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { FERRY } from './ferry-path.ts'
import type { Lab } from './lab.ts'
import { end } from './sandbox-process.ts'

export type WorkerProcess = {
  readonly pid: number
  /** Rejects when the worker ends. */
  readonly ended: Promise<never>
}

/** A worker, started as the README says. Resolves once it is ready. */
export async function openWorkerProcess(lab: Lab, env: Record<string, string>): Promise<WorkerProcess> {
  await promisify(execFile)(process.execPath, [FERRY, 'migrate'], { env }) // the queue's tables
  const child = spawn(process.execPath, ['--max-semi-space-size=2', FERRY, 'worker', '--json'], {
    env: { ...env, FERRY_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  lab.defer(() => end(child))
  const ended = endOf(child)
  await Promise.race([once(child.stdout, 'data'), ended])
  return { pid: child.pid ?? 0, ended }
}

function endOf(child: ChildProcess): Promise<never> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the worker ended with ${code}`)
  })
  ended.catch(() => {}) // it is ended once it has been measured
  return ended
}
