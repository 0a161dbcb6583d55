import { appendFileSync } from 'node:fs'
import { loadInstallation } from '#src/db/installation.ts'
import { openDatabase } from '#src/db/pool.ts'
import { openBackend } from '#src/queue/backend.ts'
import type { Timing } from '#src/schedules/timing.ts'
import { openWorker } from '#src/worker/worker.ts'
import { contextOf, reconcileOften, testJob, workOf } from './queue-harness.ts'

/*
 * A worker in a process of its own, which tests may kill or suspend. Its one job writes a line to a file and never ends;
 * SIGTERM drains it. Started with what it needs as JSON in its only argument.
 */

export type ScriptedWorkerOptions = {
  readonly databaseUrl: string
  readonly redisUrl: string | null
  readonly file: string
  readonly timing: Timing
  readonly drainMs: number
}

const { databaseUrl, redisUrl, file, timing, drainMs }: ScriptedWorkerOptions = JSON.parse(
  process.argv[2] ?? '{}',
)

const ferry = contextOf({}, openDatabase(databaseUrl, contextOf({}, null as never).log).pool)
const { id } = await loadInstallation(ferry.pool)
const job = testJob({
  timing,
  run: (_, { slot }, signal) => {
    appendFileSync(file, `begun ${slot?.toISOString()}\n`)
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        appendFileSync(file, 'aborted\n')
        reject(signal.reason)
      })
    })
  },
})
const backend = openBackend({ databaseUrl, redisUrl, installation: id, log: ferry.log })
const worker = await openWorker(ferry, backend, workOf([job], reconcileOften))

process.on('SIGTERM', async () => {
  await worker.drain(drainMs)
  appendFileSync(file, 'drained\n')
  await ferry.pool.end()
})
