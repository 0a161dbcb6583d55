import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '#src/model/call.ts'
import { OPERATIONS } from '#src/platform/operations.ts'
import { type Answer, envelope, send } from './answer.ts'
import { refuse } from './errors.ts'
import type { NoAnswer } from './fault-answer.ts'
import { wireJson } from './json.ts'
import type { Received } from './received.ts'
import { serveCall } from './serve-call.ts'
import type { SandboxState } from './state.ts'

const OPERATION_NAMES = Object.keys(OPERATIONS) as Operation[]

/** Gives every body to the handler as text, or null if it is too long: the handler checks other things first. */
export function takeAnyBody(app: FastifyInstance, maxBytes: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (_request: FastifyRequest, body: Readable) => {
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of body) {
      bytes += piece.length
      if (bytes <= maxBytes) pieces.push(piece)
    }
    return bytes > maxBytes ? null : Buffer.concat(pieces).toString('utf8')
  })
}

/** Answers one platform request, valid or not, and records it. */
export async function answerRequest(
  state: SandboxState,
  request: FastifyRequest,
  reply: FastifyReply,
  closing: AbortSignal,
): Promise<void> {
  reply.hijack()
  const path = request.url.split('?')[0]
  const operation = OPERATION_NAMES.find(name => OPERATIONS[name].path === path) ?? null
  const record = arrived(operation)
  state.received.push(record)
  const outcome = await outcomeOf(state, request, record, closing)
  state.options.onExchange?.({
    method: request.method,
    url: request.url,
    headers: request.headers,
    text: textOf(request),
    answer: typeof outcome === 'string' ? null : outcome,
    isFault: record.fault !== null,
  })
  if (outcome === 'drop') reply.raw.destroy()
  if (typeof outcome === 'string') return
  record.status = outcome.status
  record.code = outcome.code
  await send(reply.raw, outcome, String(request.headers['accept-encoding']).includes('gzip'))
}

async function outcomeOf(
  state: SandboxState,
  request: FastifyRequest,
  record: Received,
  closing: AbortSignal,
): Promise<Answer | NoAnswer> {
  const { operation, requestId } = record
  if (operation === null) return envelope(requestId, refuse('RouteNotFound'))
  if (request.method !== 'POST') return envelope(requestId, refuse('MethodNotAllowed'))
  if (!isJson(request.headers['content-type'])) return envelope(requestId, refuse('InvalidContentType'))
  const appKey = (request.query as Record<string, unknown>).app_key
  try {
    return await serveCall(state, { operation, appKey, text: textOf(request), record }, closing)
  } catch (error) {
    if (closing.aborted) return 'drop'
    return envelope(requestId, refuse('InternalError', `The sandbox failed: ${error}`))
  }
}

function textOf({ body }: FastifyRequest): string | null {
  return body === undefined ? '' : (body as string | null)
}

function isJson(contentType: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? '')
}

function arrived(operation: Operation | null): Received {
  return {
    requestId: newRequestId(),
    operation,
    countedAt: null,
    bucket: null,
    accountId: null,
    appKey: null,
    body: null,
    fault: null,
    status: null,
    code: null,
  }
}

function newRequestId(): string {
  return randomUUID().replaceAll('-', '')
}

/** Answers bytes that are not HTTP with the envelope too, and closes the connection. */
export function refuseGarbage(_error: Error, socket: Socket): void {
  if (!socket.writable) return
  const requestId = newRequestId()
  const error = { code: 'BadRequest', message: 'This is not an HTTP request.' }
  const body = wireJson({ request_id: requestId, error })
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nService-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
