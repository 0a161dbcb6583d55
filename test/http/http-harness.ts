import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { pino } from 'pino'
import { defineSchedules } from '#jobs/schedules.ts'
import { serveHttp } from '#src/cli/worker-http.ts'
import type { Config } from '#src/config.ts'
import { loadInstallation } from '#src/db/installation.ts'
import { type Ferry, openFerry } from '#src/ferry.ts'
import { type HttpOptions, type HttpServer, openHttp } from '#src/http/server.ts'
import { openBackend } from '#src/queue/backend.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { openSilentProxy, type SilentProxy } from '#test/support/silent-proxy.ts'
import { readScrape, type Scrape } from './scrape.ts'

const SILENT = pino({ level: 'silent' })

export type HttpHarness = FerryHarness & {
  /** The Ferry that `http` answers for. */
  readonly worker: Ferry
  scrape(): Promise<Scrape>
  readonly http: HttpServer
  /** The way of `http` to Postgres, and to the queue in it. */
  readonly proxy: SilentProxy
  get(path: string, headers?: Record<string, string>): Promise<Answered>
}

/** A server on a free port in this process, which reaches a real Postgres and a real queue by a road that can fall silent. */
export async function openHttpHarness(
  httpOptions: Partial<HttpOptions> = {},
  sandboxOptions: Partial<SandboxOptions> = {},
  config: Partial<Config> = {},
): Promise<HttpHarness> {
  await using opened = new AsyncDisposableStack()
  const harness = opened.use(await openFerryHarness(sandboxOptions, {}, { hasQueue: true }))
  const proxy = opened.use(await openSilentProxy(harness.databaseUrl, 5432))
  const http = opened.use(await openTestHttp(httpOptions))
  const databaseUrl = proxy.through(harness.databaseUrl)
  const options = {
    log: httpOptions.log ?? SILENT,
    signal: new AbortController().signal,
    observer: http.observer,
  }
  const ferry = opened.use(await openFerry({ ...harness.ferry.config, ...config, databaseUrl }, options))
  const { id: installation } = await loadInstallation(ferry.pool)
  const backend = openBackend({ ...ferry.backend, installation, log: ferry.log })
  const queues = { sync: backend.openQueue('sync'), import: backend.openQueue('import') }
  opened.defer(async () => {
    await Promise.all(Object.values(queues).map(queue => queue.close()))
  })
  const countWaiting = async () => ({
    sync: await queues.sync.getWaitingCount(),
    import: await queues.import.getWaitingCount(),
  })
  await serveHttp(http, ferry, { countWaiting }, defineSchedules(ferry), opened)
  const kept = opened.move()
  return {
    ...harness,
    http,
    proxy,
    worker: ferry,
    scrape: async () => readScrape((await ask(`${http.address}/metrics`)).text),
    get: (path, headers) => ask(http.address + path, { headers }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

export function openTestHttp(options: Partial<HttpOptions> = {}): Promise<HttpServer> {
  return openHttp({
    host: '127.0.0.1',
    port: 0,
    orFree: false,
    hosts: [],
    metricsToken: null,
    console: null,
    signsInOnce: false,
    proxy: null,
    log: SILENT,
    ...options,
  })
}

export type Answered = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly json: any
}

/** Asks with a connection of its own, or with one of `agent`. */
export function ask(
  url: string,
  {
    headers = {},
    method = 'GET',
    agent,
    body,
  }: {
    headers?: Record<string, string> | undefined
    method?: string
    agent?: Agent
    body?: string
  } = {},
): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const sent = request(url, { headers, method, agent: agent ?? new Agent() }, response => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', piece => {
      text += piece
    })
    response.on('error', reject)
    response.on('end', () => {
      const isJson = response.headers['content-type']?.startsWith('application/json') && text !== ''
      const json = isJson ? JSON.parse(text) : undefined
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
    })
  })
  sent.on('error', reject).end(body)
  return promise
}
