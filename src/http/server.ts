import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { jsonOf } from '#src/model/json-text.ts'
import type { Secret } from '#src/model/secret.ts'
import type { TrustedProxy } from '#src/model/settings.ts'
import { unlessLate } from '#src/model/within.ts'
import { explainLateness, type Freshness, isLate } from '#src/reports/freshness.ts'
import type { Tokens } from './console/access.ts'
import type { Approvals } from './console/approvals.ts'
import type { OneTimeCode } from './console/sign-in.ts'
import type { ConsoleTarget } from './console/target.ts'
import { gaugeText } from './gauges.ts'
import { type AnswerUnreadable, close, createListener, listen } from './listener.ts'
import { createProcessMetrics, type ProcessMetrics } from './process-metrics.ts'
import { createQuestions, type HttpTarget, type Questions } from './questions.ts'
import { type Readiness, readinessOf } from './readiness.ts'
import { bearsToken, type Checked, createTokenGuard, type TokenGuard, tooManyWrong } from './token-guard.ts'

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
    /** An address that signs in one browser, to operate; null for none. */
    readonly signInAddress: string | null
    /** Starts to answer from Postgres and the queue. */
    serve(
      target: HttpTarget & {
        readonly console: Omit<ConsoleTarget, 'approvals' | 'readiness' | 'signal'> | null
      },
    ): void
    /**
     * Reports the worker as not ready, and asks Postgres nothing more. Resolves once the approvals in progress have ended,
     * or after 20 s.
     */
    stop(): Promise<void>
  }

export type HttpOptions = {
  readonly host: string
  readonly port: number
  /** True to use a free port if this one is taken. */
  readonly orFree: boolean
  /** Host names that are answered besides `localhost`. */
  readonly hosts: readonly string[]
  /** Required for `/metrics` and for the names in `/freshness`; null for none. */
  readonly metricsToken: Secret | null
  /** The tokens of the console; null for no console. */
  readonly console: Tokens | null
  /** Who signs people in for the console; null: nobody does. */
  readonly proxy: TrustedProxy | null
  /** True to make an address that signs in the first person who opens it, to operate. */
  readonly signsInOnce: boolean
  readonly log: Logger
}

/** An approval that was cut off only has to report that. */
const STOP_WITHIN_MS = 20_000

const NEEDS_TOKEN =
  'The metrics need a token: that of FERRY_METRICS_TOKEN, or the one that `ferry up` made. Send it as Authorization: Bearer TOKEN.'

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

/** Begins to listen. Throws `AddressUnusable`. Disposing closes the server within half a second. */
export async function openHttp(options: HttpOptions): Promise<HttpServer> {
  const server = new Server(options)
  if (options.console) await server.addConsole(options.console)
  await server.listen()
  return server
}

class Server implements HttpServer {
  address = ''
  readonly hasConsole: boolean
  readonly observer: ProcessMetrics['observer']
  readonly onRun: ProcessMetrics['onRun']
  readonly #options: HttpOptions
  readonly #metrics = createProcessMetrics()
  readonly #guard: TokenGuard
  readonly #app: FastifyInstance
  readonly #stopping = new AbortController()
  #code: OneTimeCode | null = null
  #answerUnreadable: AnswerUnreadable = () => null
  /** Null without a console. */
  #approvalsOf: ((inventory: ConsoleTarget['inventory']) => Approvals) | null = null
  /** Null until `serve` is called. */
  #questions: Questions | null = null
  #consoleTarget: ConsoleTarget | null = null

  constructor(options: HttpOptions) {
    const { log, host, hosts, console } = options
    this.#options = options
    this.hasConsole = console !== null
    this.observer = this.#metrics.observer
    this.onRun = this.#metrics.onRun
    this.#guard = createTokenGuard({ log, onFailure: this.#metrics.onTokenFailure })
    this.#app = createListener([host.toLowerCase(), ...hosts], (request, reply) =>
      this.#answerUnreadable(request, reply),
    )
    this.#app.get('/livez', async () => ({ alive: true }))
    this.#app.get('/readyz', (_request, reply) => this.#readyz(reply))
    this.#app.get('/freshness', (request, reply) => this.#freshness(request, reply))
    this.#app.get('/metrics', (request, reply) => this.#metricsFor(request, reply))
  }

  async addConsole(tokens: Tokens): Promise<void> {
    const { createOneTimeCode } = await import('./console/sign-in.ts')
    const { serveConsole } = await import('./console/console.ts')
    const { createApprovals } = await import('./console/approvals.ts')
    const { log, signsInOnce, proxy } = this.#options
    const { signal } = this.#stopping
    this.#approvalsOf = inventory => createApprovals(inventory, log, signal)
    if (signsInOnce) this.#code = createOneTimeCode()
    this.#answerUnreadable = serveConsole(this.#app, {
      tokens,
      code: this.#code,
      proxy,
      guard: this.#guard,
      log,
      target: () => (signal.aborted ? null : this.#consoleTarget),
    })
  }

  async listen(): Promise<void> {
    this.address = await listen(this.#app, this.#options)
  }

  get signInAddress(): string | null {
    return this.#code && this.address + this.#code.path
  }

  serve({ console, ...target }: Parameters<HttpServer['serve']>[0]): void {
    const questions = createQuestions(target, this.#options.log)
    this.#questions = questions
    if (!console || !this.#approvalsOf) return
    const { signal } = this.#stopping
    const approvals = this.#approvalsOf(console.inventory)
    this.#consoleTarget = { ...console, approvals, readiness: () => readinessNow(questions, signal), signal }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    if (this.#consoleTarget) await unlessLate(STOP_WITHIN_MS, this.#consoleTarget.approvals.settled())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await close(this.#app)
    this.#guard[Symbol.dispose]()
  }

  async #readyz(reply: FastifyReply): Promise<FastifyReply> {
    const { signal } = this.#stopping
    if (!this.#questions || signal.aborted) return this.#notServing(reply, { ready: false })
    const readiness = await readinessNow(this.#questions, signal)
    return reply.code(readiness.ready ? 200 : 503).send(readiness)
  }

  async #freshness(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { signal } = this.#stopping
    if (!this.#questions || signal.aborted) return this.#notServing(reply, { fresh: false })
    const { fresh, ...named } = freshnessAnswer(await this.#questions.freshness(signal))
    const showsNames = this.#checkMetricsToken(request).is === 'right'
    return reply
      .code(fresh ? 200 : 503)
      .type('application/json')
      .send(jsonOf(showsNames ? { fresh, ...named } : { fresh }))
  }

  async #metricsFor(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { signal } = this.#stopping
    const checked = this.#checkMetricsToken(request)
    if (checked.is !== 'right') return refuseMetrics(reply, checked)
    const ofProcess = await this.#metrics.text()
    const ofDatabase = this.#questions && !signal.aborted ? await sharedText(this.#questions, signal) : ''
    return reply.type(PROMETHEUS_TEXT).send(ofProcess + ofDatabase)
  }

  #checkMetricsToken({ headers: { authorization }, socket }: FastifyRequest): Checked<true> {
    const { metricsToken } = this.#options
    if (!metricsToken) return { is: 'right', value: true }
    // A request without a token guesses none.
    if (authorization === undefined) return { is: 'wrong' }
    return this.#guard.check(
      'metrics',
      socket.remoteAddress,
      () => bearsToken(authorization, metricsToken) || null,
    )
  }

  #notServing(reply: FastifyReply, state: object): FastifyReply {
    return reply
      .code(503)
      .send({ ...state, error: `This worker is ${this.#questions ? 'stopping' : 'starting'}.` })
  }
}

function refuseMetrics(reply: FastifyReply, checked: Exclude<Checked<true>, { is: 'right' }>): FastifyReply {
  reply.header('www-authenticate', 'Bearer')
  if (checked.is === 'wrong') return reply.code(401).send({ error: NEEDS_TOKEN })
  const { seconds } = checked
  return reply
    .code(429)
    .header('retry-after', seconds)
    .send({ error: tooManyWrong(seconds) })
}

async function readinessNow({ schema, waiting }: Questions, signal: AbortSignal): Promise<Readiness> {
  return readinessOf(...(await Promise.all([schema(signal), waiting(signal)])))
}

/** The gauges of Postgres and of the queue; those of one that does not answer are left out. */
async function sharedText({ gauges, waiting }: Questions, signal: AbortSignal): Promise<string> {
  const [known, queues] = await Promise.all([gauges(signal), waiting(signal)])
  // A scrape that was cut short does not tell whether Postgres is up.
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

/** The answer to `/freshness`: each inventory as `ferry freshness --json` prints it. */
type FreshnessAnswer = {
  readonly fresh: boolean
  readonly inventories: readonly object[]
  readonly error?: string
}

/** Fresh: something was read or has a freshness target, and nothing is late. `rows` is null if Postgres did not answer. */
function freshnessAnswer(rows: readonly Freshness[] | null): FreshnessAnswer {
  if (rows === null) return { fresh: false, inventories: [], error: 'Postgres did not answer.' }
  return {
    fresh: rows.length > 0 && !rows.some(isLate),
    inventories: rows.map(row => ({ ...row, message: explainLateness(row) })),
  }
}
