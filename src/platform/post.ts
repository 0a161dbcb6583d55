import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Permit } from '#src/model/call.ts'
import { msSince } from '#src/model/moment.ts'
import type { Route } from './dispatcher.ts'
import { faultOf, type NetworkFault } from './fault.ts'
import { unpack } from './read-body.ts'

export type Transport = Route & {
  readonly origin: string
  /** How long the platform may take, from the moment a request is sent to the last byte of its answer. */
  readonly requestTimeoutMs: number
  /** See `Throttle`. */
  readonly permitGoodForMs: number
  readonly arrivalBoundMs: number
  /** Chunks of answers are read one a turn. */
  readonly turns: Turns
}

/** The permit of a request, and the way to renew it. An unused permit goes back to the caller. */
export type PermitUse = {
  readonly permit: Permit
  /**
   * Called when a permit expires before the request is sent: returns it to the throttle, and resolves with another.
   * After it rejects, no permit is held.
   */
  renewPermit(expired: Permit, signal: AbortSignal): Promise<Permit>
}

/** `path` contains the app_key: only the platform may see it. */
export type Post<Step, Body> = PermitUse & {
  readonly path: string
  readonly body: Buffer
  /**
   * Reads the body of the answer, all of it unless it throws. The time that it takes or waits does not count against the
   * platform.
   */
  receive(head: AnswerHead, chunks: AsyncIterable<Buffer>): AsyncGenerator<Step, Body>
}

/** The outcome of one request. */
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
  /** Certainly not sent, so it does not count. The caller returns `permit`, if it is not null. */
  | { readonly kind: 'unsent'; readonly permit: Permit | null; readonly fault: NetworkFault }

type Headers = Readonly<Record<string, string | string[] | undefined>>

export type AnswerHead = { readonly httpStatus: number; readonly headers: Headers }

export type Answered<Body = Buffer> = AnswerHead & {
  readonly kind: 'answered'
  readonly permit: Permit
  readonly body: Body
  /** When the last byte of the answer came, by `performance.now()`. The body may have been processed long after that. */
  readonly answeredAtMs: number
}

/** Asks for messages in English, wherever Ferry runs: they are stored in the ledger. */
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'gzip',
  'accept-language': 'en',
  'user-agent': 'ferry',
}

/**
 * Sends one request with one permit, yields what `receive` yields, and returns the outcome, which may be an abort. The
 * caller records the end of a call that was sent. Rejects only if `renewPermit` does; then nothing was sent.
 *
 * A permit must not be used late, but the worker may have slept, or the connection may have taken long to open. So the body
 * is a generator that checks the permit's age as its first step: undici writes nothing of a request, not even its headers,
 * before the generator yields, and then everything in the next microtask (client-h1.js, `writeIterable`,
 * `AsyncWriter.write`; over HTTP/2 the headers would be written earlier, so the client speaks HTTP/1). The connection
 * stays open while an expired permit is renewed: a connection that takes longer to open than a permit lives is still used.
 */
export async function* post<Step, Body>(
  transport: Transport,
  request: Post<Step, Body>,
  signal: AbortSignal,
): AsyncGenerator<Step, Exchange<Body>> {
  const sending = new Sending(transport, request)
  const onAbort = () => sending.stop('Ferry was told to stop')
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  try {
    return yield* sending.run()
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** One request while it is sent and answered. */
class Sending<Step, Body> {
  readonly #transport: Transport
  readonly #request: Post<Step, Body>
  readonly #stopping = new AbortController()
  readonly #deadline: Timer
  readonly #arrival: Timer
  /** Null once the request was stopped while its permit was being renewed. */
  #held: Promise<Permit | null>
  /** Null until something was sent. */
  #sentWith: Permit | null = null
  /** The answer, once it has begun. */
  #response: Dispatcher.ResponseData | null = null
  /** When the last byte of the answer came. */
  #endedAtMs: number | null = null

  constructor(transport: Transport, request: Post<Step, Body>) {
    const { requestTimeoutMs, where } = transport
    this.#transport = transport
    this.#request = request
    this.#held = Promise.resolve(request.permit)
    this.#deadline = new Timer(() =>
      this.stop(`it took longer than ${requestTimeoutMs} ms (FERRY_REQUEST_TIMEOUT) ${where}`),
    )
    this.#arrival = new Timer(() => this.stop(`the request could not be written in time ${where}`))
  }

  stop(why: string): void {
    this.#stopping.abort(new Error(why))
  }

  async *run(): AsyncGenerator<Step, Exchange<Body>> {
    this.#deadline.start(this.#transport.requestTimeoutMs)
    try {
      return yield* this.#exchange()
    } catch (error) {
      return await this.#failed(error)
    } finally {
      this.#deadline.stop()
      this.#arrival.stop()
      // An unread body would keep its connection from other calls.
      this.#response?.body.on('error', () => {}).destroy()
    }
  }

  async *#exchange(): AsyncGenerator<Step, Answered<Body>> {
    const { dispatcher, origin } = this.#transport
    const { path, body, receive } = this.#request
    this.#response = await dispatcher.request({
      origin,
      method: 'POST',
      path,
      headers: { ...HEADERS, 'content-length': `${body.length}` },
      body: this.#bodyAtTheLastMoment() as unknown as Readable, // undici accepts iterables, although its types do not say so
      signal: this.#stopping.signal,
      headersTimeout: 0, // `deadline` replaces it
      bodyTimeout: 0,
    })
    const { statusCode: httpStatus, headers, body: answer } = this.#response
    answer.once('end', () => {
      this.#endedAtMs = performance.now()
    })
    this.#deadline.pause()
    const received = yield* receive(
      { httpStatus, headers },
      whileRunning(this.#deadline, this.#transport.turns, unpack(this.#response)),
    )
    // A server that answers before anything was sent only closes an idle connection.
    if (this.#sentWith === null) throw new Error('the connection was closed')
    const answeredAtMs = this.#endedAtMs ?? performance.now()
    return { kind: 'answered', permit: this.#sentWith, httpStatus, headers, body: received, answeredAtMs }
  }

  async *#bodyAtTheLastMoment(): AsyncGenerator<Buffer> {
    const { requestTimeoutMs, arrivalBoundMs } = this.#transport
    const permit = await this.#validPermit()
    this.#sentWith = permit
    this.#deadline.start(requestTimeoutMs)
    this.#arrival.start(arrivalBoundMs - msSince(permit.askedAt))
    yield this.#request.body
    this.#arrival.stop()
  }

  async #validPermit(): Promise<Permit> {
    const { signal } = this.#stopping
    for (;;) {
      const permit = await this.#held
      if (permit === null || signal.aborted) throw signal.reason
      if (msSince(permit.askedAt) <= this.#transport.permitGoodForMs) return permit
      this.#deadline.stop()
      this.#held = this.#request.renewPermit(permit, signal).catch(error => {
        if (!signal.aborted) throw error
        return null
      })
    }
  }

  async #failed(error: unknown): Promise<Exchange<Body>> {
    const { signal } = this.#stopping
    const fault = signal.aborted ? stoppedFor(signal.reason) : faultAt(this.#transport.where, error)
    if (this.#sentWith !== null) {
      const { statusCode: httpStatus, headers } = this.#response ?? { statusCode: null, headers: {} }
      return { kind: 'lost', permit: this.#sentWith, httpStatus, headers, fault }
    }
    this.stop(fault.words) // a generator that waits for a permit must not send with it
    return { kind: 'unsent', permit: await this.#held, fault }
  }
}

function stoppedFor(reason: Error): NetworkFault {
  return { kind: 'network', words: reason.message }
}

function faultAt(where: string, error: unknown): NetworkFault {
  const { kind, words } = faultOf(error)
  return { kind, words: kind === 'too-large' ? words : `${words} ${where}` }
}

/**
 * Passes chunks on, one at a `turn` of the account. `deadline` runs only while the next one is awaited: the time of a slow
 * reader does not count against the platform.
 */
async function* whileRunning(
  deadline: Timer,
  turns: Turns,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  deadline.resume()
  for await (const chunk of chunks) {
    deadline.pause()
    await turns.next()
    yield chunk
    deadline.resume()
  }
}

/**
 * One turn of the event loop for each caller, first come first served. Answers that come at the same moment are noted as
 * answered before all of them have been read: until then each counts against the limit.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  next(): Promise<unknown> {
    this.#last = this.#last.then(() => setImmediate())
    return this.#last
  }
}

/** Calls `onEnd` after a time that can be paused. */
class Timer {
  readonly #onEnd: () => void
  #timeout: NodeJS.Timeout | undefined
  #startedAtMs = 0
  #leftMs = 0

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  start(ms: number): void {
    this.stop()
    this.#startedAtMs = performance.now()
    this.#leftMs = ms
    this.#timeout = setTimeout(this.#onEnd, Math.max(ms, 0)) // negative if the process was busy for long
  }

  stop(): void {
    clearTimeout(this.#timeout)
  }

  pause(): void {
    this.stop()
    this.#leftMs -= performance.now() - this.#startedAtMs
  }

  resume(): void {
    this.start(this.#leftMs)
  }
}
