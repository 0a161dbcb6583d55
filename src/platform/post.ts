import type { Readable } from 'node:stream'
import { msSince } from '#src/model/moment.ts'
import type { Route } from './dispatcher.ts'
import { faultOf, type NetworkFault } from './fault.ts'
import { unpack } from './read-body.ts'
import type { Permit } from './throttle.ts'

export type Transport = Route & {
  readonly origin: string
  /** How long the platform may take, from the moment a request is sent to the last byte of its answer. */
  readonly requestTimeoutMs: number
  /** See `Throttle`. */
  readonly permitGoodForMs: number
  readonly arrivalBoundMs: number
}

/** What a request may be sent with. The caller provides both, and gets back a permit that was not used. */
export type PermitUse = {
  readonly permit: Permit
  /**
   * Called when a permit expires before the request is sent: returns it to the throttle, and resolves with another.
   * If it rejects, no permit is held any more.
   */
  renewPermit(expired: Permit, signal: AbortSignal): Promise<Permit>
}

/** `path` holds the app_key: it is for the platform only. */
export type Post<Body> = PermitUse & {
  readonly path: string
  readonly body: Buffer
  /** Reads the body of the answer, all of it unless it throws. The time it takes itself is not the platform's. */
  receive(head: AnswerHead, chunks: AsyncIterable<Buffer>): Promise<Body>
}

/** What became of one request. */
export type Exchange<Body = unknown> =
  | Answered<Body>
  /** Sent, at least in part. `httpStatus` is known if an answer began. */
  | {
      readonly kind: 'lost'
      readonly permit: Permit
      readonly httpStatus: number | null
      readonly headers: Headers
      readonly fault: NetworkFault
    }
  /** Certainly not sent, so it does not count: `permit`, if there still is one, is to be returned. */
  | { readonly kind: 'unsent'; readonly permit: Permit | null; readonly fault: NetworkFault }

type Headers = Readonly<Record<string, string | string[] | undefined>>

export type AnswerHead = { readonly httpStatus: number; readonly headers: Headers }

export type Answered<Body = Buffer> = AnswerHead & {
  readonly kind: 'answered'
  readonly permit: Permit
  readonly body: Body
  /** When the last byte of the answer came, by `performance.now()`: what was done with the body since may have taken long. */
  readonly answeredAtMs: number
}

/** Messages in English, whoever runs Ferry: they end in ledgers. */
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'gzip',
  'accept-language': 'en',
  'user-agent': 'ferry',
}

/**
 * Sends one request with one permit and returns what became of it, an abort included. Whoever calls it records the end of
 * a call that was sent. Rejects only if `renewPermit` does; then nothing was sent.
 *
 * A permit must not be used late, and the worker may have slept, or the connection may have taken long to open. So the body
 * is a generator that checks the permit's age as its first step: undici writes nothing of a request, not even its headers,
 * before the generator yields, and then everything in the next microtask (client-h1.js, `writeIterable`,
 * `AsyncWriter.write`; over HTTP/2 the headers would be written earlier, so the client speaks HTTP/1). The connection
 * stays open while an expired permit is renewed: one that takes longer to open than a permit lives can be used all the same.
 */
export async function post<Body>(
  transport: Transport,
  request: Post<Body>,
  signal: AbortSignal,
): Promise<Exchange<Body>> {
  const { dispatcher, where, origin, requestTimeoutMs, permitGoodForMs, arrivalBoundMs } = transport
  const { path, body, renewPermit, receive } = request
  const progress: Progress = { sentWith: null, httpStatus: null, headers: {}, body: null, endedAtMs: null }
  const stopping = new AbortController()
  const stop = (why: string) => stopping.abort(new Error(why))
  const onAbort = () => stop('Ferry was told to stop')
  const deadline = timer(() =>
    stop(`it took longer than ${requestTimeoutMs} ms (FERRY_REQUEST_TIMEOUT) ${where}`),
  )
  const arrival = timer(() => stop(`the request could not be written in time ${where}`))
  /** Null once the request was stopped while its permit was being renewed. */
  let held: Promise<Permit | null> = Promise.resolve(request.permit)

  async function validPermit(): Promise<Permit> {
    for (;;) {
      const permit = await held
      if (permit === null || stopping.signal.aborted) throw stopping.signal.reason
      if (msSince(permit.askedAt) <= permitGoodForMs) return permit
      deadline.stop()
      held = renewPermit(permit, stopping.signal).catch(error => {
        if (!stopping.signal.aborted) throw error
        return null
      })
    }
  }
  async function* bodyAtTheLastMoment(): AsyncGenerator<Buffer> {
    const permit = await validPermit()
    progress.sentWith = permit
    deadline.start(requestTimeoutMs)
    arrival.start(arrivalBoundMs - msSince(permit.askedAt))
    yield body
    arrival.stop()
  }

  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  deadline.start(requestTimeoutMs)
  try {
    const response = await dispatcher.request({
      origin,
      method: 'POST',
      path,
      headers: { ...HEADERS, 'content-length': `${body.length}` },
      body: bodyAtTheLastMoment() as unknown as Readable, // undici takes iterables, its types do not say so
      signal: stopping.signal,
      headersTimeout: 0, // `deadline` is the one that counts
      bodyTimeout: 0,
    })
    progress.httpStatus = response.statusCode
    progress.headers = response.headers
    progress.body = response.body
    response.body.once('end', () => {
      progress.endedAtMs = performance.now()
    })
    const { statusCode: httpStatus, headers } = response
    deadline.pause()
    const answer = await receive({ httpStatus, headers }, whileRunning(deadline, unpack(response)))
    // A server that answers before anything was sent is closing an idle connection.
    if (progress.sentWith === null) throw new Error('the connection was closed')
    const answeredAtMs = progress.endedAtMs ?? performance.now()
    return { kind: 'answered', permit: progress.sentWith, httpStatus, headers, body: answer, answeredAtMs }
  } catch (error) {
    // What was not read would keep its connection from other calls.
    progress.body?.on('error', () => {}).destroy()
    const fault = stopping.signal.aborted ? stoppedFor(stopping.signal.reason) : faultAt(where, error)
    const { sentWith: permit, httpStatus, headers } = progress
    if (permit !== null) return { kind: 'lost', permit, httpStatus, headers, fault }
    stop(fault.words) // a generator that waits for a permit must not send with it
    return { kind: 'unsent', permit: await held, fault }
  } finally {
    signal.removeEventListener('abort', onAbort)
    deadline.stop()
    arrival.stop()
  }
}

type Progress = {
  sentWith: Permit | null
  httpStatus: number | null
  headers: Headers
  body: Readable | null
  endedAtMs: number | null
}

function stoppedFor(reason: Error): NetworkFault {
  return { kind: 'network', words: reason.message }
}

function faultAt(where: string, error: unknown): NetworkFault {
  const { kind, words } = faultOf(error)
  return { kind, words: kind === 'too-large' ? words : `${words} ${where}` }
}

/** Passes chunks on. `deadline` runs only while the next one is awaited: a slow reader is no slow platform. */
async function* whileRunning(deadline: Timer, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  deadline.resume()
  for await (const chunk of chunks) {
    deadline.pause()
    yield chunk
    deadline.resume()
  }
}

type Timer = ReturnType<typeof timer>

function timer(onEnd: () => void) {
  let timeout: NodeJS.Timeout | undefined
  let startedAtMs = 0
  let leftMs = 0
  function start(ms: number): void {
    clearTimeout(timeout)
    startedAtMs = performance.now()
    leftMs = ms
    timeout = setTimeout(onEnd, ms)
  }
  return {
    start,
    stop: () => clearTimeout(timeout),
    pause() {
      clearTimeout(timeout)
      leftMs -= performance.now() - startedAtMs
    },
    resume: () => start(leftMs),
  }
}
