import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { jsonOf } from '#src/model/json-text.ts'
import type { Secret } from '#src/model/secret.ts'
import type { Tokens } from './console/access.ts'
import type { Approvals } from './console/approvals.ts'
import type { OneTimeCode } from './console/sign-in.ts'
import type { ConsoleTarget } from './console/target.ts'
import { freshnessAnswer } from './freshness.ts'
import { gaugeText } from './gauges.ts'
import { type AnswerUnreadable, close, createListener, listen } from './listener.ts'
import { createProcessMetrics, type ProcessMetrics } from './process-metrics.ts'
import { createQuestions, type HttpTarget, type Questions } from './questions.ts'
import { type Readiness, readinessOf } from './readiness.ts'
import { bearsToken } from './token.ts'
import { type Checked, createTokenGuard } from './token-guard.ts'

/*
 * Health and metrics of one process, for probes and for Prometheus, and the console for people. Probes only read, and
 * never wait long for Postgres:
 *
 *     openHttp ──► starting ──serve──► serving ──stop──► stopping ──► disposed
 *                  /livez, the metrics  everything        /livez, the metrics
 *                  of the process                         of the process
 *
 * It listens before Postgres and the queue are reached and until the worker has drained, so that a probe can tell a worker
 * that starts or stops from one that is gone.
 */

export type HttpServer = AsyncDisposable &
  Pick<ProcessMetrics, 'observer' | 'onRun'> & {
    /** `http://HOST:PORT` */
    readonly address: string
    readonly hasConsole: boolean
    /** An address that signs in one browser, to operate; null if there is none. */
    readonly signInAddress: string | null
    /** From now on answers come from Postgres and the queue. */
    serve(
      target: HttpTarget & {
        readonly console: Omit<ConsoleTarget, 'approvals' | 'readiness' | 'signal'> | null
      },
    ): void
    /**
     * From now on the worker is not ready, and Postgres is asked nothing more. Resolves once what the console had begun has
     * ended, or after 20 s.
     */
    stop(): Promise<void>
  }

export type HttpOptions = {
  readonly host: string
  readonly port: number
  /** Whether to take a free port if this one is taken. */
  readonly orFree: boolean
  /** Other names than `localhost` that a request may be for. */
  readonly hosts: readonly string[]
  /** Required for `/metrics` and for the names in `/freshness`; null for none. */
  readonly metricsToken: Secret | null
  /** Who may use the console; null: there is none. */
  readonly console: Tokens | null
  /** Whether an address signs the first who opens it in to the console, to operate. */
  readonly signsInOnce: boolean
  readonly log: Logger
}

/** An approval that is cut off has nothing more to do than to say so. */
const STOP_WITHIN_MS = 20_000

const NEEDS_TOKEN =
  'The metrics need a token, of FERRY_METRICS_TOKEN or the one that `ferry up` made: Authorization: Bearer …'

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

/** Begins to listen. Throws `AddressUnusable`. Disposing closes the server within half a second. */
export async function openHttp(options: HttpOptions): Promise<HttpServer> {
  const { log, host, hosts, metricsToken } = options
  const { observer, onRun, onTokenFailure, text: processText } = createProcessMetrics()
  const guard = createTokenGuard({ log, onFailure: onTokenFailure })
  const stopping = new AbortController()
  const { signal } = stopping
  let questions: Questions | null = null
  let consoleTarget: ConsoleTarget | null = null
  let approvalsOf: ((inventory: ConsoleTarget['inventory']) => Approvals) | null = null

  let unreadable: AnswerUnreadable = () => null
  const app = createListener([host.toLowerCase(), ...hosts], (request, reply) => unreadable(request, reply))
  app.get('/livez', async () => ({ alive: true }))
  app.get('/readyz', async (_request, reply) => {
    if (!questions || signal.aborted) return notServing(reply, { ready: false })
    const readiness = await readinessNow(questions)
    return reply.code(readiness.ready ? 200 : 503).send(readiness)
  })
  app.get('/freshness', async (request, reply) => {
    if (!questions || signal.aborted) return notServing(reply, { fresh: false })
    const { fresh, ...named } = freshnessAnswer(await questions.freshness(signal))
    const mayName = checkMetricsToken(request).is === 'right'
    return reply
      .code(fresh ? 200 : 503)
      .type('application/json')
      .send(jsonOf(mayName ? { fresh, ...named } : { fresh }))
  })
  app.get('/metrics', async (request, reply) => {
    const checked = checkMetricsToken(request)
    if (checked.is !== 'right') return refuseMetrics(reply, checked)
    const text = (await processText()) + (questions && !signal.aborted ? await sharedText(questions) : '')
    return reply.type(PROMETHEUS_TEXT).send(text)
  })

  let code: OneTimeCode | null = null
  if (options.console) {
    const { createOneTimeCode } = await import('./console/sign-in.ts')
    const { serveConsole } = await import('./console/console.ts')
    const { createApprovals } = await import('./console/approvals.ts')
    approvalsOf = inventory => createApprovals(inventory, log, signal)
    if (options.signsInOnce) code = createOneTimeCode()
    unreadable = serveConsole(app, {
      tokens: options.console,
      code,
      guard,
      log,
      target: () => (signal.aborted ? null : consoleTarget),
    })
  }

  function checkMetricsToken({ headers: { authorization }, socket }: FastifyRequest): Checked<true> {
    if (!metricsToken) return { is: 'right', value: true }
    // Who gives no token guesses none.
    if (authorization === undefined) return { is: 'wrong' }
    return guard.check('metrics', socket.remoteAddress, () => bearsToken(authorization, metricsToken) || null)
  }

  function refuseMetrics(
    reply: FastifyReply,
    checked: Exclude<Checked<true>, { is: 'right' }>,
  ): FastifyReply {
    reply.header('www-authenticate', 'Bearer')
    if (checked.is === 'wrong') return reply.code(401).send({ error: NEEDS_TOKEN })
    const { seconds } = checked
    const error = `Too many wrong tokens came from this address. Try again in ${seconds} s.`
    return reply.code(429).header('retry-after', seconds).send({ error })
  }

  async function readinessNow({ schema, waiting }: Questions): Promise<Readiness> {
    return readinessOf(...(await Promise.all([schema(signal), waiting(signal)])))
  }

  function notServing(reply: FastifyReply, state: object): FastifyReply {
    return reply.code(503).send({ ...state, error: `This worker is ${questions ? 'stopping' : 'starting'}.` })
  }

  /** The gauges of Postgres and of the queue, as far as these answer. */
  async function sharedText({ gauges, waiting }: Questions): Promise<string> {
    const [known, queues] = await Promise.all([gauges(signal), waiting(signal)])
    // A scrape that is cut short knows nothing of Postgres.
    if (signal.aborted && !known) return ''
    const waits = Object.entries(queues ?? {}).filter(([, count]) => count !== null)
    return gaugeText([
      {
        name: 'ferry_database_up',
        help: '1 if the gauges of the database could be read within 2 s.',
        samples: [[{}, known ? 1 : 0]],
      },
      {
        name: 'ferry_queue_waiting',
        help: 'Wake-ups that wait in a queue. Absent if the queue does not answer.',
        samples: waits.map(([queue, count]) => [{ queue }, count ?? 0] as const),
      },
      ...(known ?? []),
    ])
  }

  const address = await listen(app, options)
  return {
    address,
    hasConsole: options.console !== null,
    signInAddress: code && address + code.path,
    observer,
    onRun,
    serve({ console, ...target }) {
      const asked = createQuestions(target, log)
      questions = asked
      if (!console || !approvalsOf) return
      const approvals = approvalsOf(console.inventory)
      consoleTarget = { ...console, approvals, readiness: () => readinessNow(asked), signal }
    },
    async stop() {
      stopping.abort()
      const late = delay(STOP_WITHIN_MS, undefined, { ref: false })
      await Promise.race([consoleTarget?.approvals.settled(), late])
    },
    [Symbol.asyncDispose]: () => close(app),
  }
}
