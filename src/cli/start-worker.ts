import { join } from 'node:path'
import type { Ferry } from '#src/ferry.ts'
import type { RunResult } from '#src/model/run.ts'
import type { CommandContext } from './command-context.ts'
import { consoleTokenFile } from './console-token.ts'
import { collectGarbageLater } from './garbage.ts'
import { print, printAside, printJson } from './output.ts'
import { loadSchedules, printSchedules } from './schedules.ts'
import type { Service } from './service.ts'
import { versionOfPackage } from './version.ts'
import { type HttpChoice, openHttpIfOn, serveHttp } from './worker-http.ts'

/** Containers start in any order: Ferry waits so long for Postgres, and then for Redis. */
const RETRY_FOR_MS = 30_000

/** From the signal. After 5/6 of it, what is still under way is cut off and given back. */
const DRAIN_WITHIN_MS = 28_000

export type StartOptions = HttpChoice & { readonly onRun?: (run: RunResult) => void }

/** Opens Ferry and a worker, which fails if its Postgres ends, and prints the accounts, where the data and the queue are, and the schedules. */
export async function startWorker(
  context: CommandContext,
  opened: AsyncDisposableStack,
  options: StartOptions,
): Promise<Service> {
  const http = await openHttpIfOn(context, options, opened)
  const { openFerry } = await import('#src/ferry.ts')
  const { openWorker } = await import('#src/worker/worker.ts')
  const { JOBS } = await import('#jobs/index.ts')
  const { defineSchedules } = await import('#jobs/schedules.ts')
  const { promisesOf } = await import('#jobs/promises.ts')
  const { saveCallsPerMinute } = await import('#src/db/calls-per-minute.ts')
  const { prepareReader } = await import('#src/reports/reader-role.ts')
  const { savePromises } = await import('#src/reports/promises.ts')
  const { openNotifications } = await import('#src/worker/notifications.ts')
  const { openHeartbeat } = await import('./heartbeat.ts')
  const { reachQueue } = await import('#src/queue/reach.ts')
  const { openBackend } = await import('#src/queue/backend.ts')
  const { loadInstallation } = await import('#src/db/installation.ts')
  const { retryTransient } = await import('#src/db/retry.ts')
  const ferry = opened.use(
    await openFerry(context.config, {
      ...context,
      retryForMs: RETRY_FOR_MS,
      schema: 'update',
      observer: http?.observer,
    }),
  )
  const waiting = { retryForMs: RETRY_FOR_MS, signal: context.signal }
  const { id: installation } = await retryTransient(() => loadInstallation(ferry.pool), waiting)
  // What a migration has made is not among the rights of the role yet.
  if (ferry.migrated > 0) await prepareReader(ferry.pool)
  const promises = promisesOf(ferry, ferry.accounts.values(), new Date())
  await retryTransient(() => savePromises(ferry.pool, promises), waiting)
  await retryTransient(() => saveCallsPerMinute(ferry.pool, ferry.limits), waiting)
  const settings = { ...ferry.backend, installation, log: ferry.log }
  await reachQueue(settings, { ...context, retryForMs: RETRY_FOR_MS })
  const worker = await openWorker(ferry, openBackend(settings), {
    jobs: JOBS,
    schedules: defineSchedules(ferry),
    version: versionOfPackage(),
    promises,
    onRun(run) {
      http?.onRun(run)
      options.onRun?.(run)
    },
  })
  opened.defer(async () => {
    printAside('ferry: finishing what is under way; a second signal exits at once')
    await Promise.all([http?.stop(), worker.drain(DRAIN_WITHIN_MS)])
  })
  opened.use(openHeartbeat(ferry))
  if (http) await serveHttp(http, ferry, worker, defineSchedules(ferry), opened)
  opened.use(await openNotifications(ferry))
  opened.use(collectGarbageLater())

  const service = { failed: ferry.postgresEnded }
  const accounts = [...ferry.accounts.keys()]
  const inRedis = ferry.backend.redisUrl !== null
  const schedules = await loadSchedules(ferry)
  if (options.json) {
    printJson({
      pid: process.pid,
      accounts,
      queue: inRedis ? 'redis' : 'postgres',
      http: http?.address ?? null,
      console: http?.hasConsole ? `${http.address}/` : null,
      signIn: http?.signInAddress ?? null,
      schedules,
    })
    return service
  }
  print(`Accounts: ${accounts.join(', ')}`)
  print(`Data:     ${ferry.embedded ?? 'the Postgres of DATABASE_URL'}`)
  print(`          ${psqlCommand(ferry)}`)
  print(`Queue:    in ${inRedis ? 'Redis' : 'the same Postgres'}`)
  if (http?.hasConsole) print(`Console:  ${http.signInAddress ?? `${http.address}/`}`)
  if (http?.signInAddress) {
    print(
      `          signs in the first who opens it; for others: any name, the token in ${consoleTokenFile(ferry.config.dataDir)}`,
    )
  }
  if (http) print(`HTTP:     ${http.address}/readyz, /livez, /freshness, /metrics`)
  print('')
  printSchedules(schedules)
  return service
}

/** A command that works in a shell, in any directory, and shows no password. */
export function psqlCommand({ config, backend }: Pick<Ferry, 'config' | 'backend'>): string {
  if (config.databaseUrl !== null) return 'psql "$DATABASE_URL"'
  const { hostname, port, username, pathname } = new URL(backend.databaseUrl)
  const password = join(config.dataDir, 'postgres', 'owner-password')
  return `PGPASSWORD=$(cat '${password}') psql -h ${hostname} -p ${port} -U ${username} ${pathname.slice(1)}`
}
