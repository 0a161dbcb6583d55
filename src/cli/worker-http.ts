import type { Ferry } from '#src/ferry.ts'
import type { HttpServer } from '#src/http/server.ts'
import type { Operation } from '#src/platform/operations.ts'
import type { ScheduleDefinition } from '#src/schedules/definition.ts'
import type { FerryWorker } from '#src/worker/worker.ts'
import type { CommandContext } from './command-context.ts'
import { print, printAside } from './output.ts'

/**
 * Opens HTTP if `FERRY_HTTP_PORT` is set, or on `usualHttpPort`, or on a free port if that one is taken. It listens before
 * Postgres is reached: a port that is taken is reported at once, and a probe sees a worker that starts.
 */
export async function openHttpIfOn(
  { config, log }: CommandContext,
  { json, usualHttpPort }: { readonly json?: true; readonly usualHttpPort?: number },
  opened: AsyncDisposableStack,
): Promise<HttpServer | null> {
  const port = config.http.port ?? usualHttpPort
  if (port === undefined) return null
  const { openHttp } = await import('#src/http/server.ts')
  const orFree = config.http.port === null
  const http = opened.use(await openHttp({ ...config.http, port, orFree, log }))
  if (port !== 0 && !http.address.endsWith(`:${port}`)) {
    const say = json ? printAside : print
    say(`Port ${port} is taken, so HTTP is at ${http.address}. FERRY_HTTP_PORT chooses a port.\n`)
  }
  return http
}

/** From now on HTTP answers for this worker. */
export async function serveHttp(
  http: HttpServer,
  ferry: Pick<Ferry, 'pool' | 'accounts' | 'limitOf'>,
  worker: Pick<FerryWorker, 'countWaiting'>,
  definitions: readonly ScheduleDefinition[],
): Promise<void> {
  const { OPERATIONS } = await import('#src/platform/operations.ts')
  const { schedulesOf } = await import('#src/schedules/definition.ts')
  const accounts = [...ferry.accounts.keys()]
  const operations = Object.keys(OPERATIONS) as Operation[]
  http.serve({
    pool: ferry.pool,
    countWaiting: worker.countWaiting,
    schedules: schedulesOf(definitions, accounts),
    limits: accounts.flatMap(account =>
      operations.map(operation => ({ account, operation, limit: ferry.limitOf(account, operation) })),
    ),
  })
}
