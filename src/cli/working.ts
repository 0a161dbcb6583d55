import { join } from 'node:path'
import type { Ferry } from '#src/ferry.ts'
import type { RunResult } from '#src/model/run.ts'
import { print, printAside, printJson } from './output.ts'
import { printSchedules, schedulesOf } from './schedules.ts'
import type { Session } from './session.ts'

/** Containers start in any order: Postgres, and then Redis, are waited for as long as this. */
const PATIENCE_MS = 30_000

/** From the signal: at 5/6 of it, what is still under way is aborted and given back. */
const DRAIN_WITHIN_MS = 28_000

/** Opens everything and a worker on it, and says where things are. */
export async function openWorking(
  session: Session,
  opened: AsyncDisposableStack,
  options: { json?: true; onRun?: (run: RunResult) => void },
): Promise<void> {
  const { openFerry } = await import('#src/ferry.ts')
  const { openWorker } = await import('#src/queue/worker.ts')
  const { JOBS } = await import('#jobs/index.ts')
  const { openHeartbeat } = await import('./heartbeat.ts')
  const { reachQueue } = await import('#src/queue/check.ts')
  const { openBackend } = await import('#src/queue/backend.ts')
  const { loadInstallation } = await import('#src/store/installation.ts')
  const ferry = opened.use(
    await openFerry(session.config, { ...session, patienceMs: PATIENCE_MS, schema: 'update' }),
  )
  const { id: installation } = await loadInstallation(ferry.pool)
  const settings = { ...ferry.backend, installation, log: ferry.log }
  await reachQueue(settings, { ...session, patienceMs: PATIENCE_MS })
  const worker = await openWorker(ferry, openBackend(settings), JOBS, options.onRun)
  opened.defer(() => {
    printAside('ferry: finishing what is under way; a second signal ends it at once')
    return worker.drain(DRAIN_WITHIN_MS)
  })
  opened.use(openHeartbeat(ferry))

  const accounts = [...ferry.accounts.keys()]
  const inRedis = ferry.backend.redisUrl !== null
  const schedules = await schedulesOf(ferry)
  if (options.json)
    return printJson({ pid: process.pid, accounts, queue: inRedis ? 'redis' : 'postgres', schedules })
  print(`Accounts: ${accounts.join(', ')}`)
  print(`Data:     ${ferry.embedded ?? 'the Postgres of DATABASE_URL'}`)
  print(`          ${psqlCommand(ferry)}`)
  print(`Queue:    in ${inRedis ? 'Redis' : 'the same Postgres'}\n`)
  printSchedules(schedules)
}

/** A line that works in a shell, in any directory, and shows no password. */
export function psqlCommand({ config, backend }: Pick<Ferry, 'config' | 'backend'>): string {
  if (config.databaseUrl !== null) return 'psql "$DATABASE_URL"'
  const { hostname, port, username, pathname } = new URL(backend.databaseUrl)
  const password = join(config.dataDir, 'postgres', 'password')
  return `PGPASSWORD=$(cat '${password}') psql -h ${hostname} -p ${port} -U ${username} ${pathname.slice(1)}`
}
