import type { Readable } from 'node:stream'
import type { Route } from './dispatcher.ts'
import { type Fault, faultOf } from './fault.ts'
import { readBody } from './read-body.ts'
import { keepSlot } from './slot-keeper.ts'
import type { Call, Slot, Throttle } from './throttle.ts'

export type Line = Route & {
  readonly origin: string
  readonly throttle: Throttle
  readonly requestTimeoutMs: number
  /** Hears of each slot that was too old before the request could be sent. */
  onStale(): void
}

/** Messages in English, whoever runs Ferry: they end in ledgers. */
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'gzip',
  'accept-language': 'en',
  'user-agent': 'ferry',
}

/** `path` holds the app_key: it is for the platform only. */
export type Post = { readonly call: Call; readonly path: string; readonly body: Buffer }

/** What became of one request. */
export type Exchange =
  | Answered
  /** Sent, at least in part. `httpStatus` is known if an answer began. */
  | {
      readonly kind: 'lost'
      readonly slot: Slot
      readonly httpStatus: number | null
      readonly headers: Headers
      readonly fault: Fault
    }
  /** Certainly not sent: it does not count. */
  | { readonly kind: 'unsent'; readonly fault: Fault }

type Headers = Readonly<Record<string, string | string[] | undefined>>

export type Answered = {
  readonly kind: 'answered'
  readonly slot: Slot
  readonly httpStatus: number
  readonly headers: Headers
  readonly body: Buffer
}

/**
 * Sends one request with one slot of the throttle, and returns what became of it; the slot of one that was sent is
 * still to be finished. Rejects with the signal's reason if it aborts before anything is sent, and with the
 * throttle's own faults. What the network does is a value.
 *
 * A slot must not be sent late, and the worker may have slept, or the connection been long in coming. So the body
 * is a generator, and the last look at the slot's age is its first step: undici writes nothing of a request, not
 * even its headers, before the generator yields, and then everything in the next microtask (client-h1.js,
 * `writeIterable`, `AsyncWriter.write`; over HTTP/2 headers would go out earlier, so the client speaks HTTP/1).
 */
export async function post(line: Line, { call, path, body }: Post, signal: AbortSignal): Promise<Exchange> {
  const { dispatcher, where, origin, throttle, requestTimeoutMs } = line
  const slots = keepSlot(throttle, call, line.onStale)
  const progress: Progress = { sentWith: null, httpStatus: null, headers: {}, throttleFault: null }
  const stopping = new AbortController()
  const stop = (why: string) => stopping.abort(new Error(why))
  const onAbort = () => stop('Ferry was told to stop')
  const deadline = timer(() =>
    stop(`it took longer than ${requestTimeoutMs} ms (FERRY_REQUEST_TIMEOUT) ${where}`),
  )
  const arrival = timer(() => stop(`the request could not be handed over in time ${where}`))

  async function freshSlot(): Promise<Slot> {
    deadline.stop()
    return slots.fresh(stopping.signal).catch(error => {
      if (!stopping.signal.aborted) progress.throttleFault = { error }
      throw error
    })
  }
  async function* bodyAtTheLastMoment(): AsyncGenerator<Buffer> {
    const slot = await freshSlot()
    progress.sentWith = slot
    deadline.start(requestTimeoutMs)
    arrival.start(slot.askedAtMs + throttle.arrivalBoundMs - performance.now())
    yield body
    arrival.stop()
  }

  signal.throwIfAborted()
  signal.addEventListener('abort', onAbort)
  try {
    await freshSlot()
    deadline.start(requestTimeoutMs)
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
    const answer = await readBody(response)
    // Who answers before anything was sent closes an idle connection.
    if (progress.sentWith === null) throw new Error('the connection was closed')
    const { statusCode: httpStatus, headers } = response
    return { kind: 'answered', slot: progress.sentWith, httpStatus, headers, body: answer }
  } catch (error) {
    const fault = stopping.signal.aborted ? stoppedFor(stopping.signal.reason) : faultAt(where, error)
    const { sentWith: slot, httpStatus, headers } = progress
    // A proxy that wants credentials passes nothing on.
    if (slot !== null && fault.kind !== 'proxy-auth')
      return { kind: 'lost', slot, httpStatus, headers, fault }
    stop(fault.words) // a generator that still waits for a slot must not get one
    await slots.giveBack()
    if (progress.throttleFault) throw progress.throttleFault.error
    signal.throwIfAborted()
    return { kind: 'unsent', fault }
  } finally {
    signal.removeEventListener('abort', onAbort)
    deadline.stop()
    arrival.stop()
  }
}

type Progress = {
  sentWith: Slot | null
  httpStatus: number | null
  headers: Headers
  throttleFault: { readonly error: unknown } | null
}

function stoppedFor(reason: Error): Fault {
  return { kind: 'network', words: reason.message }
}

function faultAt(where: string, error: unknown): Fault {
  const { kind, words } = faultOf(error)
  return { kind, words: kind === 'too-large' ? words : `${words} ${where}` }
}

function timer(onEnd: () => void) {
  let timeout: NodeJS.Timeout | undefined
  return {
    start(ms: number) {
      clearTimeout(timeout)
      timeout = setTimeout(onEnd, ms)
    },
    stop: () => clearTimeout(timeout),
  }
}
