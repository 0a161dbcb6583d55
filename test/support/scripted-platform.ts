import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pino } from 'pino'
import { Secret } from '#src/model/secret.ts'
import { type ClientOptions, openPlatformClient, type PlatformClient } from '#src/platform/client.ts'
import { createThrottle } from './create-throttle.ts'

export type Received = {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Answers the n-th request, counted from 1. */
export type Script = (request: Received, response: ServerResponse, n: number) => void

/** Must appear nowhere but in the address of a request. Its characters need escaping there. */
export const CANARY = 'canary/key+with&all=of#it'

/** A server that answers as the script says, and a client that talks to it. */
export async function openScriptedPlatform(script: Script, options: Partial<ClientOptions> = {}) {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { url = '', headers } = request
    const one = { url, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    script(one, response, received.length)
  })
  server.on('connection', socket => sockets.add(socket.on('close', () => sockets.delete(socket))))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const logs: string[] = []
  const throttle = createThrottle()
  const client: PlatformClient = openPlatformClient({
    account: 'default',
    baseUrl: origin,
    baseUrlSetting: 'FERRY_BASE_URL',
    appKey: new Secret(CANARY),
    keySetting: 'FERRY_APP_KEY',
    throttle,
    requestTimeoutMs: 5_000,
    log: pino({ level: 'trace' }, { write: line => logs.push(line) }),
    ...options,
  })
  return {
    client,
    origin,
    server,
    throttle: (options.throttle as typeof throttle | undefined) ?? throttle,
    received,
    logs,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** Answers with JSON, by default as a success. */
export function answerJson(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

export function success(data: unknown): { request_id: string; data: unknown } {
  return { request_id: 'req-1', data }
}

export function failure(code: string, message = 'No.'): { request_id: string; error: object } {
  return { request_id: 'req-2', error: { code, message } }
}
