import type { ServerResponse } from 'node:http'
import type { Refusal } from './errors.ts'
import { wireJson } from './json.ts'
import { Payload } from './payload.ts'

/** The result of an operation. */
export type Result = { readonly ok: true; readonly data: readonly Payload[] } | Refusal

/** An answer ready to be sent. */
export type Answer = {
  readonly status: number
  readonly code: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: readonly Payload[]
  /** Only half the body is sent; then the connection is closed. */
  readonly cut?: boolean
}

/** A shorter body is not compressed. */
const GZIP_FROM_BYTES = 1_024

/** Puts a result into the envelope of section 2.1. */
export function envelope(requestId: string, result: Result): Answer {
  const headers = jsonHeaders(requestId)
  if (result.ok) {
    const opening = new Payload(`{"request_id":${JSON.stringify(requestId)},"data":`)
    return { status: 200, code: null, headers, body: [opening, ...result.data, new Payload('}')] }
  }
  const { code, status, message, retryAfterS } = result
  const body = new Payload(wireJson({ request_id: requestId, error: { code, message } }))
  const retryAfter = retryAfterS === null ? {} : { 'Retry-After': String(retryAfterS) }
  return { status, code, headers: { ...headers, ...retryAfter }, body: [body] }
}

export function jsonHeaders(requestId: string, contentType = 'application/json; charset=utf-8') {
  return { 'Content-Type': contentType, 'Service-Request-Id': requestId }
}

/** Sends an answer, gzipped if the caller accepts that. A caller that has disconnected is not an error. */
export async function send(response: ServerResponse, answer: Answer, takesGzip: boolean): Promise<void> {
  if (answer.body.some(piece => piece.isMadeLate)) return stream(response, answer, takesGzip)
  const plainBytes = answer.body.reduce((sum, piece) => sum + piece.bytes.length, 0)
  const gzipped = takesGzip && plainBytes >= GZIP_FROM_BYTES
  const pieces = gzipped
    ? await Promise.all(answer.body.map(piece => piece.gzipped()))
    : answer.body.map(piece => piece.bytes)
  if (response.destroyed) return
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  response.writeHead(answer.status, { ...headersOf(answer, gzipped), 'Content-Length': length })
  if (answer.cut) {
    response.write(Buffer.concat(pieces).subarray(0, Math.floor(length / 2)), () => response.destroy())
    return
  }
  response.cork()
  for (const piece of pieces) response.write(piece)
  response.end()
}

/** Sends a long body piece by piece, each when the caller has taken those before it. Its length is not announced. */
async function stream(response: ServerResponse, answer: Answer, gzipped: boolean): Promise<void> {
  const { body, cut } = answer
  const pieces = cut ? body.slice(0, Math.ceil(body.length / 2)) : body
  response.writeHead(answer.status, headersOf(answer, gzipped))
  for (const piece of pieces) {
    const bytes = await (gzipped ? piece.gzipped() : piece.plain())
    if (response.destroyed) return
    if (!response.write(bytes)) await drained(response)
  }
  if (cut) response.write('', () => response.destroy())
  else response.end()
}

function headersOf({ headers }: Answer, gzipped: boolean): Answer['headers'] {
  return gzipped ? { ...headers, 'Content-Encoding': 'gzip' } : headers
}

/** Waits until the caller has taken what was written, or has disconnected. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  response.once('drain', resolve).once('close', resolve)
  await promise
  response.off('drain', resolve).off('close', resolve)
}
