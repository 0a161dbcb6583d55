import { hash } from 'node:crypto'
import type { InventoryAccount, InventoryContext } from '#src/inventory/context.ts'
import { createKnownRows } from '#src/inventory/read/known-rows.ts'
import { type SyncRequest, syncInventory } from '#src/inventory/sync.ts'
import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import type { RunResult } from '#src/model/run.ts'
import type { Answer } from '#src/platform/answer.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { AlertRuleWire } from '#src/platform/contract.ts'
import {
  BEGINS,
  type FindKnown,
  type ListedRow,
  type Listing,
  type ListingEnd,
  type ListingStep,
  type ReadRow,
} from '#src/platform/listing.ts'
import { stringifyLossless } from '#src/platform/lossless-json.ts'
import { refusedByPlatform } from '#src/platform/refusal.ts'
import { ALERT_RULES } from '#src/platform/row-kinds.ts'
import { rowWriter } from '#src/platform/written-row.ts'
import type { FerryHarness } from '#test/support/ferry-harness.ts'
import { mcpPage } from '#test/support/mcp-list.ts'
import { alertRuleWire } from '#test/support/wire.ts'

/** What an alert rule listing is to say of one rule. */
export type Listed = {
  readonly id: bigint
  readonly folder: bigint
  readonly name: string
  readonly firing?: boolean
  readonly createdAtS?: bigint
  /** Delivered, but it does not parse: set aside under its id, or under none. */
  readonly broken?: 'with its id' | 'without an id'
}

const NEVER_ASKED = () => Promise.reject(new Error('not part of this test'))

/**
 * An account whose n-th listing, counted from 1, is what `script` says; a folder's shows what is in it. Its MCP servers,
 * called by these ids, are one page.
 */
export function scriptedAccount(
  name: string,
  script: (n: number) => readonly Listed[],
  keyHash = 'key',
  servers: readonly string[] = [],
): InventoryAccount {
  let calls = 0
  const client: PlatformClient = {
    async *listAlertRules(folder, find) {
      const rows = script(++calls).filter(row => folder === 0n || row.folder === folder)
      yield* list(rows, find)
    },
    async listMcpPage({ page }) {
      const rows = page === 1 ? servers.map(id => ({ server_id: id, server_name: `server ${id}` })) : []
      return { ok: true, requestId: 'r', requests: 1, data: mcpPage(rows, servers.length) }
    },
    importSubscribers: NEVER_ASKED,
    [Symbol.asyncDispose]: async () => {},
  }
  return { name, client, folders: [0n], pageLimit: 100, includeAccount: true, keyHash, limitGroup: name }
}

/** The answer to a listing that the platform refused for good. */
export function refused(code: string): Answer<never> {
  const about = { httpStatus: 403, requestId: 'r', retryAfterMs: null }
  return { ok: false, requests: 1, refusal: refusedByPlatform(about, code, 'No.') }
}

/** A context in which the accounts are what scripts say. */
export function withAccounts(
  harness: FerryHarness,
  ...accounts: readonly InventoryAccount[]
): InventoryContext {
  return { ...harness.ferry, accounts: new Map(accounts.map(account => [account.name, account])) }
}

/** The same, as a worker that has just been started: it knows no rows. */
export function restarted(harness: FerryHarness): FerryHarness {
  return { ...harness, ferry: { ...harness.ferry, knownRows: createKnownRows(0) } }
}

/** Syncs the alert rules of an account that lists these, one after another; the last of them again and again. */
export function syncListed(
  harness: FerryHarness,
  listings: readonly (readonly Listed[])[],
  { keyHash, ...request }: Partial<SyncRequest> & { readonly keyHash?: string } = {},
): Promise<RunResult> {
  const account = request.account ?? 'default'
  const script = (n: number) => listings[Math.min(n, listings.length) - 1] ?? []
  return syncInventory(
    withAccounts(harness, scriptedAccount(account, script, keyHash)),
    { resource: 'alert-rules', trigger: 'manual', ...request, account },
    new AbortController().signal,
  )
}

/** Rules with these ids, in one folder. */
export function rules(ids: readonly number[], fields: Partial<Listed> = {}): Listed[] {
  return ids.map(id => ({ id: BigInt(id), folder: 1n, name: `rule ${id}`, ...fields }))
}

/** The numbers from 1 to `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1)
}

/** The ids stored as current, in order. */
export async function currentIds(harness: FerryHarness, account = 'default'): Promise<number[]> {
  const rows = await harness.query<{ id: number }>(
    'select id::int as id from ferry.alert_rules where account = $1 order by id',
    [account],
  )
  return rows.map(row => row.id)
}

/** The steps of a listing but its last, and the answer. */
type Handing = AsyncGenerator<ListingStep<AlertRule>, Answer<ListingEnd>>

const ROWS_A_STEP = 250

/** Lists these, as a client does. */
export async function* list(rows: readonly Listed[], find: FindKnown): Listing<AlertRule> {
  yield ended(yield* hand(rows, find))
}

export async function* hand(rows: readonly Listed[], find: FindKnown): Handing {
  yield BEGINS
  return yield* handOn(rows, find)
}

/** Hands over rows of a listing that has begun. */
export async function* handOn(rows: readonly Listed[], find: FindKnown): Handing {
  const all = rows.map((row, position) => listedRow(position, row, find))
  for (let from = 0; from < all.length; from += ROWS_A_STEP) {
    yield { kind: 'rows', rows: all.slice(from, from + ROWS_A_STEP) }
  }
  const dataHash = hash('sha256', all.map(({ digest }) => digest).join(''), 'hex')
  const data = { rows: rows.length, dataHash, drift: [], incomplete: null, confirmed: false }
  return { ok: true, requestId: 'r', requests: 1, data }
}

/** The last step of a listing. */
export function ended(answer: Answer<ListingEnd>): ListingStep<AlertRule> {
  return { kind: 'ended', pages: answer.ok ? 1 : 0, answer }
}

function listedRow(position: number, row: Listed, find: FindKnown): ListedRow<AlertRule> {
  const digest = hash('sha256', stringifyLossless(row), 'latin1')
  const known = find?.(digest) ?? -1
  const read = () => readRow(position, row, digest)
  return known === -1 ? read() : { kind: 'known', digest, known, read }
}

function readRow(position: number, row: Listed, digest: string): ReadRow<AlertRule> {
  const id = row.broken === 'without an id' ? null : `${row.id}`
  if (row.broken) return { kind: 'quarantined', digest, position, id, reason: 'broken', raw: null }
  const declared = () => null
  const rule = ruleOf(row)
  const written = WRITE(rule)
  return {
    kind: 'good',
    digest,
    position,
    id: `${row.id}`,
    row: rule,
    altered: [],
    bytes: 100,
    written,
    declared,
  }
}

const WRITE = rowWriter(ALERT_RULE)

/** What is stored of it. */
export function ruleOf({ id, folder, name, firing = false, createdAtS = 0n }: Listed): AlertRule {
  const fields = { id, account_id: 1n, folder_id: folder, name, created_at: createdAtS, triggered: firing }
  const wire = alertRuleWire({ ...fields, labels: null, updater_name: 'Ada', updated_at: 0n })
  return ALERT_RULES.toRow(AlertRuleWire.parse(wire))
}
