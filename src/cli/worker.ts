import { join } from 'node:path'
import type { Command } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import type { HttpServer } from '#src/http/server.ts'
import type { RunResult } from '#src/model/run.ts'
import { inSingleQuotes } from '#src/model/shell-word.ts'
import type { QueueBackend } from '#src/queue/backend.ts'
import type { FreshnessTarget } from '#src/reports/freshness-targets.ts'
import { needAccounts } from './accounts.ts'
import type { CommandContext } from './command-context.ts'
import { consoleTokenFile } from './console-token.ts'
import { collectGarbageLater } from './garbage.ts'
import { print, printAside, printJson } from './output.ts'
import { loadSchedules, printSchedules } from './schedules.ts'
import { type Service, serve } from './service.ts'
import { versionOfPackage } from './version.ts'
import { type HttpChoice, openHttpIfOn, serveHttp } from './worker-http.ts'

export function addWorker(program: Command): void {
  program
    .command('worker')
    .description('run schedules and imports until SIGTERM; any number of workers, on any number of machines')
    .option('--json', 'print one JSON object once it is ready')
    .action((options: { json?: true }) =>
      serve(async (context, opened) => {
        const config = await needAccounts(context.config)
        return startWorker({ ...context, config }, opened, options)
      }),
    )
}

/** Containers start in any order: this is how long Ferry waits for Postgres, and then for Redis. */
const RETRY_FOR_MS = 30_000

/** From the signal. After 5/6 of it, what is still under way is cut off and given back. */
const DRAIN_WITHIN_MS = 28_000

export type StartOptions = HttpChoice & { readonly onRun?: (run: RunResult) => void }

/** Opens Ferry and a worker, which fails if its Postgres ends, and prints where everything is. */
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
  const { openNotifications } = await import('#src/worker/notifications.ts')
  const { openBackfills } = await import('#src/worker/backfills.ts')
  const { Heartbeat } = await import('./heartbeat.ts')
  const ferry = opened.use(
    await openFerry(context.config, {
      ...context,
      retryForMs: RETRY_FOR_MS,
      schema: 'update',
      observer: http?.observer,
    }),
  )
  const targets = await targetsOf(ferry)
  const worker = await openWorker(ferry, await prepare(ferry, targets, context.signal), {
    jobs: JOBS,
    schedules: defineSchedules(ferry),
    version: versionOfPackage(),
    targets,
    onRun(run) {
      http?.onRun(run)
      options.onRun?.(run)
    },
  })
  // Ends after the drain: it may have to wait for a Postgres that does not answer.
  const beside = opened.use(new AsyncDisposableStack())
  opened.defer(async () => {
    printAside('ferry: finishing what is under way; a second signal exits at once')
    await Promise.all([http?.stop(), worker.drain(DRAIN_WITHIN_MS)])
  })
  beside.use(new Heartbeat(ferry))
  if (http) await serveHttp(http, ferry, worker, defineSchedules(ferry), beside)
  beside.use(await openNotifications(ferry))
  beside.use(openBackfills(ferry))
  beside.use(collectGarbageLater())
  await announce(ferry, http, options)
  return { failed: ferry.postgresEnded }
}

/** Returns how old the inventories may be by the settings, and where the key of each account is set. */
export async function targetsOf(ferry: Ferry): Promise<FreshnessTarget[]> {
  const { freshnessTargetsOf } = await import('#src/worker/freshness-targets.ts')
  const keySettings = new Map(ferry.config.accounts.map(({ name, keySetting }) => [name, keySetting]))
  return freshnessTargetsOf(ferry, ferry.accounts.values(), new Date()).map(target => ({
    ...target,
    keySetting: keySettings.get(target.account),
  }))
}

/** Stores the targets and limits that reports show. */
export async function saveSettings(ferry: Ferry, targets: readonly FreshnessTarget[]): Promise<void> {
  const { saveCallsPerMinute } = await import('#src/db/limits.ts')
  const { saveFreshnessTargets } = await import('#src/reports/freshness-targets.ts')
  await saveFreshnessTargets(ferry.pool, targets)
  await saveCallsPerMinute(ferry.pool, ferry.limits)
}

/** Stores the settings that reports show, waits for the queue, and opens it. */
async function prepare(
  ferry: Ferry,
  targets: readonly FreshnessTarget[],
  signal: AbortSignal,
): Promise<QueueBackend> {
  const { loadInstallation } = await import('#src/db/installation.ts')
  const { retryTransient } = await import('#src/db/retry.ts')
  const { openBackend } = await import('#src/queue/backend.ts')
  const { reachQueue } = await import('#src/queue/check.ts')
  const waiting = { retryForMs: RETRY_FOR_MS, signal }
  const { id: installation } = await retryTransient(() => loadInstallation(ferry.pool), waiting)
  await retryTransient(() => saveSettings(ferry, targets), waiting)
  const settings = { ...ferry.backend, installation, log: ferry.log }
  await reachQueue(settings, { ...waiting, log: ferry.log })
  return openBackend(settings)
}

/** Prints the accounts, where the data and the queue are, the addresses, and the schedules. */
async function announce(ferry: Ferry, http: HttpServer | null, options: StartOptions): Promise<void> {
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
    return
  }
  print(`Accounts: ${accounts.join(', ')}`)
  print(`Data:     ${ferry.embedded ?? 'the Postgres of DATABASE_URL'}`)
  print(`          ${psqlCommand(ferry)}`)
  print(`Queue:    in ${inRedis ? 'Redis' : 'the same Postgres'}`)
  if (http?.hasConsole) print(`Console:  ${http.signInAddress ?? `${http.address}/`}`)
  if (http?.signInAddress) {
    print(
      `          signs in the first person who opens it; others need any name and the token in ${consoleTokenFile(ferry.config.dataDir)}`,
    )
  }
  if (http) print(`HTTP:     ${http.address}/readyz, /livez, /freshness, /metrics`)
  print('')
  printSchedules(schedules)
}

/** A command that works in a shell, in any directory, and shows no password. */
export function psqlCommand({ config, backend }: Pick<Ferry, 'config' | 'backend'>): string {
  if (config.databaseUrl !== null) return 'psql "$DATABASE_URL"'
  const { hostname, port, username, pathname } = new URL(backend.databaseUrl)
  const password = join(config.dataDir, 'postgres', 'owner-password')
  return `PGPASSWORD=$(cat ${inSingleQuotes(password)}) psql -h ${hostname} -p ${port} -U ${username} ${pathname.slice(1)}`
}
