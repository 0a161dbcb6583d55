import type { AlertRule } from '#src/model/alert-rule.ts'
import type { Operation } from '#src/model/call.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import { type FaultInput, Faults, type When } from './faults.ts'
import { type AppKey, PERMISSIONS, SANDBOX_ACCOUNT_ID } from './keys.ts'
import { CONTRACT_LIMITS, type Limits, NO_LIMITS, RollingLimits } from './limits.ts'
import { type Mutated, type Mutation, mutate, WORKING_DAY } from './mutate.ts'
import type { Latency, SandboxOptions } from './options.ts'
import { type Random, seededRandom } from './random.ts'
import { maxInAnyWindow, type Received } from './received.ts'
import { RowStore } from './row-store.ts'
import { folderIdOf, sampleRule } from './sample-rules.ts'
import { sampleServer } from './sample-servers.ts'

/** The status page that exists from the start. */
export const SANDBOX_PAGE_ID = 5_750_613_685_214n

/** The call that the sandbox is about to answer, as a hook sees it. */
export type CallSeen = {
  readonly operation: Operation
  readonly accountId: bigint
  /** The call's number among those of its operation, from 1. */
  readonly number: number
  /** As parsed; integers that a double cannot hold are bigints. Undefined if the body is not JSON. */
  readonly body: unknown
}

/** Runs after the sandbox has counted a call and before it answers. May change the data, wait, or return a fault. */
export type CallHook = (call: CallSeen) => FaultInput | undefined | Promise<FaultInput | undefined>

/** Fields that the contract does not declare, to play a later version of the platform. */
type Undeclared = Readonly<Record<string, unknown>>

/**
 * All data and settings of a sandbox. Its owner may read and change them between two calls.
 *
 * The sandbox answers from this object without a copy, so a change shows in the next answer.
 */
export class SandboxState {
  readonly rules = new RowStore<bigint, AlertRule<bigint>>(
    rule => rule.id,
    index => this.#sampleRule(index, SANDBOX_ACCOUNT_ID),
  )
  readonly servers = new RowStore<string, McpServer<bigint>>(server => server.server_id)
  /** Folders that exist, even if empty. A call for any other gets ResourceNotFound. */
  readonly folders = new Set<bigint>()
  /** Keyed by the text of the key. */
  readonly keys = new Map<string, AppKey>()
  readonly subscribers = new Subscribers([SANDBOX_PAGE_ID])
  readonly faults = new Faults()
  readonly counted = new RollingLimits()
  /** Every request in order of arrival, including those refused and those never answered. */
  readonly received: Received[] = []

  arriveMs: Latency
  answerMs: Latency
  limits: Limits
  retryAfter: boolean
  maxSubscribers: number | null
  /** The largest `total` that an MCP listing shows, however many servers there are. */
  freezeTotalAt: number | null = null
  /** Sends an empty list as null, as the platform's published examples do. */
  emptyAsNull = false
  rulesBody: string | null = null
  serversBody: string | null = null
  hook: CallHook | null = null

  readonly options: SandboxOptions
  /** The source of each call's latency. */
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

  /** Adds this many sample rows. No sample row comes twice, even after it was removed. */
  addSamples({ rules = 0, servers = 0 }: { rules?: number; servers?: number }): void {
    for (let added = 0; added < rules; added++) this.rules.addSample(this.#sampled.rules++)
    for (let added = 0; added < servers; added++) this.addServer()
  }

  /** Adds the next sample rule before position `index`, by default at the end; `fields` replace its own. */
  addRule(fields: Partial<AlertRule<bigint>> & Undeclared = {}, index?: number): AlertRule<bigint> {
    const accountId = fields.account_id ?? SANDBOX_ACCOUNT_ID
    const rule = { ...this.#sampleRule(this.#sampled.rules++, accountId), ...fields }
    this.folders.add(rule.folder_id)
    this.rules.add(rule, index)
    return rule
  }

  changeRule(id: bigint, patch: Partial<AlertRule<bigint>> & Undeclared): void {
    this.rules.change(id, patch)
    this.folders.add(this.rules.get(id).folder_id)
  }

  removeRule(id: bigint): void {
    this.rules.remove(id)
  }

  /** Adds the next sample server before position `index`, by default at the end; `fields` replace its own. */
  addServer(fields: Partial<McpServer<bigint>> & Undeclared = {}, index?: number): McpServer<bigint> {
    const accountId = fields.account_id ?? SANDBOX_ACCOUNT_ID
    const server = {
      ...sampleServer({ ...this.options, index: this.#sampled.servers++, accountId }),
      ...fields,
    }
    this.servers.add(server, index)
    return server
  }

  changeServer(id: string, patch: Partial<McpServer<bigint>> & Undeclared): void {
    this.servers.change(id, patch)
  }

  removeServer(id: string): void {
    this.servers.remove(id)
  }

  /** Sends this JSON text, unchanged, as the `data` of every rule list, until called with null. */
  replaceRulesBody(data: string | null): void {
    this.rulesBody = data
  }

  /** Sends this JSON text, unchanged, as the `data` of every MCP list, until called with null. */
  replaceServersBody(data: string | null): void {
    this.serversBody = data
  }

  /** Changes the order of the rows, and of the fields in each row unless `keepsFields`. */
  reorder(seed: number, keepsFields = false): void {
    this.rules.reorder(seed, keepsFields)
    this.servers.reorder(seed, keepsFields)
  }

  /** Makes `count` realistic changes. The same seed and the same earlier calls give the same changes. */
  mutate(count: number, mix: readonly Mutation[] = WORKING_DAY): Mutated {
    const round = ++this.#sampled.mutations
    return mutate(this, seededRandom(this.options.seed * 1_000 + round), round, count, mix)
  }

  /** Adds a key; by default for the sandbox's own account, with every permission, without an end. */
  addKey(key: Partial<AppKey> & Pick<AppKey, 'key'>): AppKey {
    const added = { accountId: SANDBOX_ACCOUNT_ID, permissions: PERMISSIONS, expiresAt: null, ...key }
    this.keys.set(added.key, added)
    return added
  }

  /** Makes calls fail: those that `when` names, by default every call until `clearFaults`. */
  inject(fault: FaultInput, when: When = {}): void {
    this.faults.inject(fault, when)
  }

  clearFaults(): void {
    this.faults.clear()
  }

  onCall(hook: CallHook | null): void {
    this.hook = hook
  }

  /** The largest number of calls of one account or key that the limiter saw in any rolling window. */
  maxInAnyWindow(operation: Operation, windowMs: number): number {
    return maxInAnyWindow(this.received, operation, windowMs)
  }

  #sampleRule(index: number, accountId: bigint): AlertRule<bigint> {
    return sampleRule({ ...this.options, index, accountId })
  }
}

/** How one recipient is subscribed: as in the last delivery, which replaces the earlier ones. */
export type Subscription = {
  readonly all: boolean
  readonly componentIds: readonly string[]
  readonly locale: string
}

/** A recipient's subscription and how many times it was delivered. More than one means that it was sent again. */
export type Delivered = Subscription & { readonly recipient: string; readonly deliveries: number }

/** The status pages and their subscribers. */
export class Subscribers {
  readonly #pages: Set<bigint>
  readonly #lists = new Map<string, Map<string, Delivered>>()

  constructor(pages: Iterable<bigint>) {
    this.#pages = new Set(pages)
  }

  addPage(pageId: bigint): void {
    this.#pages.add(pageId)
  }

  hasPage(pageId: bigint): boolean {
    return this.#pages.has(pageId)
  }

  deliver(pageId: bigint, method: string, recipient: string, subscription: Subscription): void {
    const list = this.#listOf(pageId, method)
    const deliveries = (list.get(recipient)?.deliveries ?? 0) + 1
    list.set(recipient, { recipient, ...subscription, deliveries })
  }

  /** One recipient of a page; undefined if it was never imported there. */
  get(pageId: bigint, method: string, recipient: string): Delivered | undefined {
    return this.#listOf(pageId, method).get(recipient)
  }

  /** All subscribers of a page, in order of their first delivery. */
  list(pageId: bigint, method: string): Delivered[] {
    return [...this.#listOf(pageId, method).values()]
  }

  count(pageId: bigint, method: string): number {
    return this.#listOf(pageId, method).size
  }

  #listOf(pageId: bigint, method: string): Map<string, Delivered> {
    const name = `${pageId} ${method}`
    const list = this.#lists.get(name) ?? new Map<string, Delivered>()
    this.#lists.set(name, list)
    return list
  }
}
