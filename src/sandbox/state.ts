import type { AlertRule } from '#src/model/alert-rule.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { Operation } from '#src/platform/operations.ts'
import { type FaultInput, Faults, type When } from './faults.ts'
import { type AppKey, PERMISSIONS, SANDBOX_ACCOUNT_ID } from './keys.ts'
import { type Mutated, type Mutation, mutate, WORKING_DAY } from './mutate.ts'
import { CONTRACT_LIMITS, type Latency, type Limits, NO_LIMITS, type SandboxOptions } from './options.ts'
import { type Random, seededRandom } from './random.ts'
import { mostInAnyWindow, type Received } from './received.ts'
import { RollingLimits } from './rolling-limits.ts'
import { folderIdOf, sampleRule } from './sample-rules.ts'
import { sampleServer } from './sample-servers.ts'
import { Shelf } from './shelf.ts'
import { Subscribers } from './subscribers.ts'

/** The status page that exists from the start. */
export const SANDBOX_PAGE_ID = 5_750_613_685_214n

/** What a hook is told about the call that is about to be answered. */
export type CallSeen = {
  readonly operation: Operation
  readonly accountId: bigint
  /** The call's number among those of its operation, from 1. */
  readonly number: number
  /** As parsed, integers beyond a double's reach as bigint; undefined if it is no JSON. */
  readonly body: unknown
}

/** Runs once the call is counted and before it is answered. May change the data, wait, or return a fault. */
export type CallHook = (call: CallSeen) => FaultInput | undefined | Promise<FaultInput | undefined>

/** Fields the contract does not declare may be added to a row, to play a platform that has grown. */
type Undeclared = Readonly<Record<string, unknown>>

/**
 * Everything a sandbox knows, for its owner to look at and to change between two calls.
 *
 * Lists are answered from it at once; nothing is copied, so a change shows in the very next answer.
 */
export class SandboxState {
  readonly rules = new Shelf<bigint, AlertRule>(rule => rule.id)
  readonly servers = new Shelf<string, McpServer>(server => server.server_id)
  /** Folders that exist, empty or not. Any other is answered ResourceNotFound. */
  readonly folders = new Set<bigint>()
  /** By the key itself. */
  readonly keys = new Map<string, AppKey>()
  readonly subscribers = new Subscribers([SANDBOX_PAGE_ID])
  readonly faults = new Faults()
  readonly counted = new RollingLimits()
  /** Every request in the order of arrival, those refused and those never answered too. */
  readonly received: Received[] = []

  arriveMs: Latency
  answerMs: Latency
  limits: Limits
  retryAfter: boolean
  maxSubscribers: number | null
  /** MCP listings say no greater `total` than this, however many servers there are. */
  freezeTotalAt: number | null = null
  /** An empty list is answered as null, as in the platform's published examples. */
  emptyAsNull = false
  rulesBody: string | null = null
  serversBody: string | null = null
  hook: CallHook | null = null

  readonly options: SandboxOptions
  /** Draws each call's latency. */
  readonly random: Random
  #sampled = { rules: 0, servers: 0, mutations: 0 }

  constructor(options: SandboxOptions) {
    this.options = options
    this.random = seededRandom(options.seed)
    this.arriveMs = options.arriveMs
    this.answerMs = options.answerMs
    this.limits = options.limits === false ? NO_LIMITS : { ...CONTRACT_LIMITS, ...options.limits }
    this.retryAfter = options.retryAfter
    this.maxSubscribers = options.maxSubscribers
    this.addKey({ key: options.appKey })
    for (let number = 0; number < options.folders; number++) {
      this.folders.add(folderIdOf(SANDBOX_ACCOUNT_ID, number))
    }
    this.addSamples({ rules: options.rules, servers: options.servers })
  }

  /** Adds as many sample rows as asked for, never ones there were before. */
  addSamples({ rules = 0, servers = 0 }: { rules?: number; servers?: number }): void {
    for (let added = 0; added < rules; added++) this.addRule()
    for (let added = 0; added < servers; added++) this.addServer()
  }

  /** Adds the next sample rule, with `fields` in place of its own, before position `index` or at the end. */
  addRule(fields: Partial<AlertRule> & Undeclared = {}, index?: number): AlertRule {
    const accountId = fields.account_id ?? SANDBOX_ACCOUNT_ID
    const rule = { ...sampleRule({ ...this.options, index: this.#sampled.rules++, accountId }), ...fields }
    this.folders.add(rule.folder_id)
    this.rules.add(rule, index)
    return rule
  }

  changeRule(id: bigint, patch: Partial<AlertRule> & Undeclared): void {
    this.rules.change(id, patch)
    this.folders.add(this.rules.get(id).folder_id)
  }

  removeRule(id: bigint): void {
    this.rules.remove(id)
  }

  /** Adds the next sample server, with `fields` in place of its own, before position `index` or at the end. */
  addServer(fields: Partial<McpServer> & Undeclared = {}, index?: number): McpServer {
    const accountId = fields.account_id ?? SANDBOX_ACCOUNT_ID
    const server = {
      ...sampleServer({ ...this.options, index: this.#sampled.servers++, accountId }),
      ...fields,
    }
    this.servers.add(server, index)
    return server
  }

  changeServer(id: string, patch: Partial<McpServer> & Undeclared): void {
    this.servers.change(id, patch)
  }

  removeServer(id: string): void {
    this.servers.remove(id)
  }

  /** Answers every rule list with this JSON text as `data`, word for word, until called with null. */
  replaceRulesBody(data: string | null): void {
    this.rulesBody = data
  }

  /** Answers every MCP list with this JSON text as `data`, word for word, until called with null. */
  replaceServersBody(data: string | null): void {
    this.serversBody = data
  }

  /** Lists the same rows in another order, and the fields of each row too. */
  reorder(seed: number): void {
    this.rules.reorder(seed)
    this.servers.reorder(seed)
  }

  /** Lets time pass: `count` believable changes, the same ones for the same seed and history. */
  mutate(count: number, mix: readonly Mutation[] = WORKING_DAY): Mutated {
    const round = ++this.#sampled.mutations
    return mutate(this, seededRandom(this.options.seed * 1_000 + round), round, count, mix)
  }

  /** Issues a key; by default one of the sandbox's own account, with every permission, for ever. */
  addKey(key: Partial<AppKey> & Pick<AppKey, 'key'>): AppKey {
    const added = { accountId: SANDBOX_ACCOUNT_ID, permissions: PERMISSIONS, expiresAt: null, ...key }
    this.keys.set(added.key, added)
    return added
  }

  /** Makes calls go wrong: the `nth` from now, or without it every one until `clearFaults`. */
  inject(fault: FaultInput, when: When = {}): void {
    this.faults.inject(fault, when)
  }

  clearFaults(): void {
    this.faults.clear()
  }

  onCall(hook: CallHook | null): void {
    this.hook = hook
  }

  /** The largest number of calls of one account or key that reached the limiter in any rolling window. */
  mostInAnyWindow(operation: Operation, windowMs: number): number {
    return mostInAnyWindow(this.received, operation, windowMs)
  }
}
