import { lookup } from 'node:dns/promises'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { boundConnections } from './connections.ts'

/*
 * The HTTP server without its routes: what it refuses, and how long a client may take. Every answer is for this moment, in
 * JSON unless a route says otherwise; an error is `{"error": "a sentence"}`.
 */

/** The longest id in a path of the console. Ids of MCP servers are text of the platform. */
const MAX_PARAM_CHARACTERS = 3_000
/** A request, headers and body, must arrive within this time. */
const REQUEST_WITHIN_MS = 5_000
/** A connection that is idle for this long is closed, for example when the client does not read. */
const IDLE_MS = 15_000
/** How often these time limits are checked. */
const CHECK_EVERY_MS = 1_000
/** Longer than any form of the console; nothing else has a body. */
const MAX_BODY_BYTES = 16_384
/** How long requests that are being answered may take when the server closes. */
const CLOSE_WITHIN_MS = 500

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

const UNREADABLE = 'This request is malformed.'
const TOO_LONG = `The body of this request is longer than ${MAX_BODY_BYTES / 1024} KiB.`

/** Answers a request whose path cannot be read; null: not a request for the console. */
export type AnswerUnreadable = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null

export function createListener(names: readonly string[], answer: AnswerUnreadable): FastifyInstance {
  const app = fastify({
    routerOptions: { maxParamLength: MAX_PARAM_CHARACTERS },
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_WITHIN_MS,
    connectionTimeout: IDLE_MS,
    keepAliveTimeout: IDLE_MS,
    forceCloseConnections: 'idle',
    clientErrorHandler: refuseGarbage,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // Hooks have not run for this request.
    frameworkErrors: (_error, request, reply: FastifyReply) => {
      const refusal = refusalOf(request, names)
      reply.headers(HEADERS)
      if (refusal) return refuse(reply, refusal)
      return answer(request, reply) ?? reply.code(400).send({ error: UNREADABLE })
    },
    http: { headersTimeout: REQUEST_WITHIN_MS, connectionsCheckingInterval: CHECK_EVERY_MS },
  })
  boundConnections(app.server)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    const refusal = refusalOf(request, names)
    // Nothing reads the body that a refused request may have.
    if (refusal) return refuse(reply, refusal)
  })
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'Nothing is at this path. See /livez, /readyz, /freshness and /metrics.' }),
  )
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) return reply.code(status).send({ error: 'Internal error in Ferry.' })
    return reply.code(status).send({ error: status === 413 ? TOO_LONG : UNREADABLE })
  })
  return app
}

type Refusal = { readonly status: number; readonly error: string; readonly headers?: Record<string, string> }

function refuse(reply: FastifyReply, { status, error, headers }: Refusal): FastifyReply {
  return reply
    .code(status)
    .headers({ connection: 'close', ...headers })
    .send({ error })
}

function refusalOf(
  { method, headers, is404, raw }: FastifyRequest,
  names: readonly string[],
): Refusal | null {
  // Node reads the first; a proxy in front may have checked the last.
  if ((raw.headersDistinct.host?.length ?? 0) > 1) {
    return { status: 400, error: 'The request has more than one Host header.' }
  }
  // A request to a proxy names the host in the address too.
  const [, addressed] = /^\w+:\/\/([^/?#]*)/.exec(raw.url ?? '') ?? []
  if (!isAllowedHost(headers.host, names) || !isAllowedHost(addressed, names)) {
    return {
      status: 421,
      error:
        'This server does not answer for this host name. Add the name to FERRY_HTTP_HOSTS if it is yours.',
    }
  }
  if (method !== 'GET' && method !== 'HEAD' && (method !== 'POST' || is404)) {
    return {
      status: 405,
      error: 'This path allows only GET and HEAD.',
      headers: { allow: 'GET, HEAD' },
    }
  }
  return null
}

/** Starts to listen; with `orFree`, on a free port if this one is taken. Returns the address. Throws `AddressUnusable`. */
export async function listen(
  app: FastifyInstance,
  { host, port, orFree }: { readonly host: string; readonly port: number; readonly orFree: boolean },
): Promise<string> {
  const named = host.includes(':') ? `[${host}]` : host
  try {
    // Only one address: for `localhost`, fastify would open a second server, whose connections are not bounded.
    const { address } = await lookup(host)
    await app.listen({ host: address, port })
  } catch (error) {
    const cause = error as NodeJS.ErrnoException
    if (cause.code !== 'EADDRINUSE' || !orFree) throw new AddressUnusable(`${named}:${port}`, cause)
    return listen(app, { host, port: 0, orFree: false })
  }
  return `http://${named}:${(app.server.address() as AddressInfo).port}`
}

/** Stops accepting requests, finishes those in progress, and cuts off the rest after half a second. */
export async function close(app: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), CLOSE_WITHIN_MS)
  await app.close().finally(() => clearTimeout(timer))
}

/** Answers bytes that are not HTTP, or come too slowly, and closes the connection. */
function refuseGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  // A second answer would be read as part of the first.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) return void socket.destroy()
  const [status, sentence] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['408 Request Timeout', 'The request did not arrive in time.']
      : ['400 Bad Request', 'This is not an HTTP request.']
  const body = JSON.stringify({ error: sentence })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** No route has a schema, so nothing compiles one. Fastify would load what could, which takes 4 MB. */
function noSchemas(): never {
  throw new Error('a route of this listener has a schema')
}

/** HTTP cannot listen where the settings say. */
export class AddressUnusable extends Error {
  override readonly name = 'AddressUnusable'
  readonly whatToDo =
    'Set FERRY_HTTP_PORT to a free port (0 takes any), or FERRY_HTTP_HOST to an address of this machine.'
  constructor(address: string, cause: NodeJS.ErrnoException) {
    super(`HTTP cannot listen on ${address}: ${whyNot(cause)}.`, { cause })
  }
}

function whyNot({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'another program uses this port'
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have this address'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'this name does not resolve to an address'
  if (code === 'EACCES') return 'this user is not allowed to use this port'
  return message
}

/**
 * True if a request with this `Host` header is answered. Allowed are an IP address, `localhost`, or one of `names` (in lower case), each
 * with any port.
 *
 * A malicious web page can make a browser request a name of its own that resolves to this machine
 * (DNS rebinding). The browser then sends that name. A client without the header (HTTP/1.0) is not a browser.
 */
export function isAllowedHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6
  if (plain === undefined) return false
  const name = plain.toLowerCase()
  return isIP(name) === 4 || name === 'localhost' || names.includes(name)
}
