import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { pino } from 'pino'
import { loadInstallation } from '#src/db/installation.ts'
import { type HttpOptions, type HttpServer, openHttp } from '#src/http/server.ts'
import { migrateQueue, openBackend } from '#src/queue/backend.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { openSilentProxy, type SilentProxy } from '#test/support/silent-proxy.ts'

export type HttpHarness = FerryHarness & {
  readonly http: HttpServer
  /** The way of `http` to Postgres, and to the queue in it. */
  readonly proxy: SilentProxy
  get(path: string, headers?: Record<string, string>): Promise<Answered>
}

/** A server on a free port in this process, which reaches a real Postgres and a real queue by a road that can fall silent. */
export async function openHttpHarness(
  options: Partial<HttpOptions> = {},
  sandboxOptions: Partial<SandboxOptions> = {},
): Promise<HttpHarness> {
  await using opened = new AsyncDisposableStack()
  const harness = opened.use(await openFerryHarness(sandboxOptions))
  const proxy = opened.use(await openSilentProxy(harness.databaseUrl, 5432))
  const http = opened.use(await openTestHttp(options))
  const ferry = await harness.openFerry({ DATABASE_URL: proxy.through(harness.databaseUrl) })
  await migrateQueue(ferry.backend)
  const { id: installation } = await loadInstallation(ferry.pool)
  const backend = openBackend({ ...ferry.backend, installation, log: ferry.log })
  const queues = { sync: backend.openQueue('sync'), import: backend.openQueue('import') }
  opened.defer(async () => {
    await Promise.all(Object.values(queues).map(queue => queue.close()))
  })
  http.serve({
    pool: ferry.pool,
    countWaiting: async () => ({
      sync: await queues.sync.getWaitingCount(),
      import: await queues.import.getWaitingCount(),
    }),
  })
  const kept = opened.move()
  return {
    ...harness,
    http,
    proxy,
    get: (path, headers) => ask(http.address + path, { headers }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

export function openTestHttp(options: Partial<HttpOptions> = {}): Promise<HttpServer> {
  const log = pino({ level: 'silent' })
  return openHttp({ host: '127.0.0.1', port: 0, orFree: false, hosts: [], log, ...options })
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
