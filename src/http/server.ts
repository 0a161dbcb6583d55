import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { SchemaFit } from '#src/db/migrate.ts'
import { reasonOf } from '#src/model/reason.ts'
import { close, createListener, listen } from './listener.ts'
import { askSchema, READY_WITHIN_MS, readinessOf, type Waiting } from './readiness.ts'
import { type Shared, shared } from './shared.ts'

/*
 * Health and metrics of one process, for probes and for Prometheus. It only reads, and never waits long for Postgres:
 *
 *     openHttp ──► starting ──serve──► serving ──stop──► stopping ──► disposed
 *                  /livez               everything        /livez, the metrics of the process
 *
 * It listens before Postgres and the queue are reached and until the worker has drained, so that a probe can tell a worker
 * that starts or stops from one that is gone.
 */

export type HttpServer = AsyncDisposable & {
  /** `http://HOST:PORT` */
  readonly address: string
  /** From now on answers come from Postgres and the queue. */
  serve(target: HttpTarget): void
  /** From now on the worker is not ready, and Postgres is asked nothing more. */
  stop(): void
}

/** What the answers come from. */
export type HttpTarget = {
  readonly pool: Pool
  /** How many wake-ups wait in each queue; null for one that does not answer. */
  countWaiting(): Promise<Waiting>
}

export type HttpOptions = {
  readonly host: string
  readonly port: number
  /** Whether to take a free port if this one is taken. */
  readonly orFree: boolean
  /** Other names than `localhost` that a request may be for. */
  readonly hosts: readonly string[]
  readonly log: Logger
}

/** The answer to a probe is used again for so long: many probes are one question to Postgres. */
const KEEP_READY_MS = 1_000

/** Begins to listen. Throws `AddressUnusable`. Disposing closes the server within half a second. */
export async function openHttp(options: HttpOptions): Promise<HttpServer> {
  const { log, host, hosts } = options
  const stopping = new AbortController()
  let ask: { readonly schema: Shared<SchemaFit>; readonly waiting: Shared<Waiting> } | null = null

  const app = createListener([host.toLowerCase(), ...hosts])
  app.get('/livez', async () => ({ alive: true }))
  app.get('/readyz', async (_request, reply) => {
    const { signal } = stopping
    if (signal.aborted || !ask) {
      return reply.code(503).send({ ready: false, error: `This worker is ${ask ? 'stopping' : 'starting'}.` })
    }
    const [schema, waiting] = await Promise.all([ask.schema(signal), ask.waiting(signal)])
    const readiness = readinessOf(schema, waiting)
    return reply.code(readiness.ready ? 200 : 503).send(readiness)
  })
  const address = await listen(app, options)

  const question = {
    keepMs: KEEP_READY_MS,
    withinMs: READY_WITHIN_MS,
    // What does not answer is logged once, by the pool or the queue.
    onFailure: (error: unknown) => log.debug({ error: reasonOf(error) }, 'A question for /readyz failed.'),
  }
  return {
    address,
    serve({ pool, countWaiting }) {
      ask = { schema: shared(() => askSchema(pool), question), waiting: shared(countWaiting, question) }
    },
    stop: () => stopping.abort(),
    [Symbol.asyncDispose]: () => close(app),
  }
}
