import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { FERRY } from './ferry-path.ts'
import type { Lab } from './lab.ts'
import { end } from './sandbox-process.ts'

type Env = Readonly<Record<string, string>>

export type WorkerProcess = {
  readonly pid: number
  /** Rejects when the worker ends. */
  readonly ended: Promise<never>
}

/** A worker on a database of its own, started as the README says. Resolves once it is ready. */
export async function openWorkerProcess(lab: Lab, env: Env): Promise<WorkerProcess> {
  await migrateQueue(env)
  const child = await startWorker(lab, { ...env, FERRY_LOG_LEVEL: 'warn' })
  return { pid: child.pid ?? 0, ended: endOf(child) }
}

/** Makes the queue's tables, if the queue is in Postgres. */
export async function migrateQueue(env: Env): Promise<void> {
  await promisify(execFile)(process.execPath, [FERRY, 'migrate'], { env })
}

/** One of several workers. Resolves once it is ready. */
export async function startWorker(lab: Lab, env: Env): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--max-semi-space-size=2', FERRY, 'worker', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  lab.defer(() => end(child))
  await Promise.race([once(child.stdout, 'data'), endOf(child)])
  return child
}

function endOf(child: ChildProcess): Promise<never> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the worker ended with ${code}`)
  })
  ended.catch(() => {}) // it is ended once it has been measured
  return ended
}
