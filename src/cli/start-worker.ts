import { join } from 'node:path'
import type { Ferry } from '#src/ferry.ts'
import type { RunResult } from '#src/model/run.ts'
import type { CommandContext } from './command-context.ts'
import { print, printAside, printJson } from './output.ts'
import { loadSchedules, printSchedules } from './schedules.ts'

/** Containers start in any order: Ferry waits so long for Postgres, and then for Redis. */
const RETRY_FOR_MS = 30_000

/** From the signal. After 5/6 of it, what is still under way is cut off and given back. */
const DRAIN_WITHIN_MS = 28_000

/** Opens Ferry and a worker, and prints the accounts, where the data and the queue are, and the schedules. */
export async function startWorker(
  context: CommandContext,
  opened: AsyncDisposableStack,
  options: { json?: true; onRun?: (run: RunResult) => void },
): Promise<void> {
  const { openFerry } = await import('#src/ferry.ts')
  const { openWorker } = await import('#src/worker/worker.ts')
  const { JOBS } = await import('#jobs/index.ts')
  const { defineSchedules } = await import('#jobs/schedules.ts')
  const { openHeartbeat } = await import('./heartbeat.ts')
  const { reachQueue } = await import('#src/queue/reach.ts')
  const { openBackend } = await import('#src/queue/backend.ts')
  const { loadInstallation } = await import('#src/db/installation.ts')
  const { retryTransient } = await import('#src/db/retry.ts')
  const ferry = opened.use(
    await openFerry(context.config, { ...context, retryForMs: RETRY_FOR_MS, schema: 'update' }),
  )
  const waiting = { retryForMs: RETRY_FOR_MS, signal: context.signal }
  const { id: installation } = await retryTransient(() => loadInstallation(ferry.pool), waiting)
  const settings = { ...ferry.backend, installation, log: ferry.log }
  await reachQueue(settings, { ...context, retryForMs: RETRY_FOR_MS })
  const worker = await openWorker(ferry, openBackend(settings), {
    jobs: JOBS,
    schedules: defineSchedules(ferry),
    ...(options.onRun && { onRun: options.onRun }),
  })
  opened.defer(() => {
    printAside('ferry: finishing what is under way; a second signal exits at once')
    return worker.drain(DRAIN_WITHIN_MS)
  })
  opened.use(openHeartbeat(ferry))

  const accounts = [...ferry.accounts.keys()]
  const inRedis = ferry.backend.redisUrl !== null
  const schedules = await loadSchedules(ferry)
  if (options.json)
    return printJson({ pid: process.pid, accounts, queue: inRedis ? 'redis' : 'postgres', schedules })
  print(`Accounts: ${accounts.join(', ')}`)
  print(`Data:     ${ferry.embedded ?? 'the Postgres of DATABASE_URL'}`)
  print(`          ${psqlCommand(ferry)}`)
  print(`Queue:    in ${inRedis ? 'Redis' : 'the same Postgres'}\n`)
  printSchedules(schedules)
}

/** A command that works in a shell, in any directory, and shows no password. */
export function psqlCommand({ config, backend }: Pick<Ferry, 'config' | 'backend'>): string {
  if (config.databaseUrl !== null) return 'psql "$DATABASE_URL"'
  const { hostname, port, username, pathname } = new URL(backend.databaseUrl)
  const password = join(config.dataDir, 'postgres', 'password')
  return `PGPASSWORD=$(cat '${password}') psql -h ${hostname} -p ${port} -U ${username} ${pathname.slice(1)}`
}
