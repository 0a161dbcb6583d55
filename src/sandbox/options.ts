import type { IncomingHttpHeaders } from 'node:http'
import type { Answer } from './answer.ts'
import type { Limits } from './limits.ts'

/** Milliseconds: fixed, or a range from which each call gets a random value. */
export type Latency = number | readonly [number, number]

export type SandboxOptions = {
  /** 0 means any free port. */
  readonly port: number
  readonly host: string
  /** The same seed gives the same sample data and the same mutations. */
  readonly seed: number
  readonly rules: number
  readonly servers: number
  readonly folders: number
  /** How many rules, and how many servers, have an id at the upper end of uint64. */
  readonly hugeIds: number
  /** The key with every permission. */
  readonly appKey: string
  /** The time from the request to the moment when the platform counts it. */
  readonly arriveMs: Latency
  /** The time from the platform's decision to the answer. */
  readonly answerMs: Latency
  readonly defaultPageSize: number
  readonly maxPageSize: number
  /** A larger request body gets EntityTooLarge. */
  readonly maxBodyBytes: number
  /** An import of more subscribers gets EntityTooLarge; null means no limit. */
  readonly maxSubscribers: number | null
  /** An operation left out has the contract's windows; false means no limits at all. */
  readonly limits: Partial<Limits> | false
  /** Whether a 429 says how long to wait. */
  readonly retryAfter: boolean
  /** Whether a refused call counts in the window too. */
  readonly countRefused: boolean
  /** Called with every platform call and its answer, before the answer is sent. */
  readonly onExchange?: (exchange: Exchange) => void
}

const DEFAULT_APP_KEY = 'sandbox-key-with-every-permission'

export const DEFAULT_OPTIONS: SandboxOptions = {
  port: 0,
  host: '127.0.0.1',
  seed: 1,
  rules: 40,
  servers: 25,
  folders: 6,
  hugeIds: 2,
  appKey: DEFAULT_APP_KEY,
  arriveMs: 0,
  answerMs: 0,
  defaultPageSize: 20,
  maxPageSize: 100,
  maxBodyBytes: 10 * 1024 * 1024,
  maxSubscribers: null,
  limits: {},
  retryAfter: false,
  countRefused: false,
}

/** A call and its answer. */
export type Exchange = {
  readonly method: string
  /** Contains the key. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Null if it was longer than the platform accepts. */
  readonly text: string | null
  /** Null if there was no answer. */
  readonly answer: Answer | null
  /** Whether the answer is an injected fault. */
  readonly isFault: boolean
}
