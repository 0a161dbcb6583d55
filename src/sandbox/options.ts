import type { Operation } from '#src/platform/operations.ts'
import type { Exchange } from './exchange.ts'

/** At most `max` calls counted in any rolling `windowMs`. */
export type Window = { readonly max: number; readonly windowMs: number }

export type Limits = Readonly<Record<Operation, readonly Window[]>>

/** A fixed time, or a range of which each call draws its own. */
export type Latency = number | readonly [number, number]

export type SandboxOptions = {
  /** 0 takes any free port. */
  readonly port: number
  readonly host: string
  /** Same seed, same sample data and same mutations. */
  readonly seed: number
  readonly rules: number
  readonly servers: number
  readonly folders: number
  /** How many of the rules and of the servers bear an id at the very top of uint64. */
  readonly hugeIds: number
  /** The key that may do everything. */
  readonly appKey: string
  /** How long a request is under way before the platform counts it. */
  readonly arriveMs: Latency
  /** How long the answer is under way once the platform has decided it. */
  readonly answerMs: Latency
  readonly defaultPageSize: number
  readonly maxPageSize: number
  /** A larger request body is answered with EntityTooLarge. */
  readonly maxBodyBytes: number
  /** More subscribers in one import are answered with EntityTooLarge; null takes any number. */
  readonly maxSubscribers: number | null
  /** Windows of an operation left out are the contract's; false counts nothing and refuses nothing. */
  readonly limits: Partial<Limits> | false
  /** Whether a 429 says how long to wait. */
  readonly retryAfter: boolean
  /** Whether a refused call takes room in the window too. */
  readonly countRefused: boolean
  /** Hears of every call of the platform's and its answer, before that is sent. */
  readonly onExchange?: (exchange: Exchange) => void
}

export const DEFAULT_APP_KEY = 'sandbox-key-with-every-permission'

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

const LIST_WINDOWS = [
  { max: 50, windowMs: 1_000 },
  { max: 1_000, windowMs: 60_000 },
]

/** Section 8 of the contract. */
export const CONTRACT_LIMITS: Limits = {
  'list-alert-rules': LIST_WINDOWS,
  'list-mcp-servers': LIST_WINDOWS,
  'import-subscribers': [
    { max: 2, windowMs: 1_000 },
    { max: 20, windowMs: 60_000 },
  ],
}

export const NO_LIMITS: Limits = { 'list-alert-rules': [], 'list-mcp-servers': [], 'import-subscribers': [] }
