import { hash } from 'node:crypto'
import type { InventoryAccount, InventoryContext } from '#src/inventory/context.ts'
import { createKnownRows } from '#src/inventory/known-rows.ts'
import { type SyncRequest, syncInventory } from '#src/inventory/sync.ts'
import type { AlertRule } from '#src/model/alert-rule.ts'
import type { RunResult } from '#src/model/run.ts'
import type { Answer } from '#src/platform/answer.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { stringifyLossless } from '#src/platform/lossless-json.ts'
import { refusedByPlatform } from '#src/platform/refusal.ts'
import type { ListingEnd, ReadRow, RowSink } from '#src/platform/row-sink.ts'
import type { FerryHarness } from '#test/support/ferry-harness.ts'
import { mcpPage } from '#test/support/mcp-list.ts'

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
    async listAlertRules(folder, sink) {
      const rows = script(++calls).filter(row => folder === 0n || row.folder === folder)
      return { ok: true, requestId: 'r', requests: 1, data: await hand(rows, sink) }
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

/** Hands rows over as a client does. */
export async function hand(rows: readonly Listed[], sink: RowSink<AlertRule>): Promise<ListingEnd> {
  await sink.ready()
  sink.begin()
  return handOn(rows, sink)
}

/** Hands over rows of a listing that has begun. */
export async function handOn(rows: readonly Listed[], sink: RowSink<AlertRule>): Promise<ListingEnd> {
  const digests = rows.map(row => hash('sha256', stringifyLossless(row), 'latin1'))
  for (const [position, row] of rows.entries()) {
    const digest = digests[position] ?? ''
    if (!sink.knows(digest)) sink.take(readRow(position, row, digest))
    await sink.settle()
  }
  return { rows: rows.length, dataHash: hash('sha256', digests.join(''), 'hex'), drift: [] }
}

function readRow(position: number, row: Listed, digest: string): ReadRow<AlertRule> {
  const id = row.broken === 'without an id' ? null : `${row.id}`
  return row.broken
    ? { position, id, reason: 'broken', raw: null }
    : { position, id: `${row.id}`, row: ruleOf(row), altered: [], digest, bytes: 100 }
}

/** What is stored of it. */
export function ruleOf({ id, folder, name, firing = false, createdAtS = 0n }: Listed): AlertRule {
  return {
    id,
    account_id: 1n,
    folder_id: folder,
    name,
    labels: null,
    ds_type: 'prometheus',
    enabled: true,
    debug_log_enabled: false,
    cron_pattern: '* * * * *',
    timezone: null,
    delay_seconds: 0n,
    creator_id: 1n,
    creator_name: 'Ada',
    updater_id: 1n,
    updater_name: 'Ada',
    created_at: createdAtS,
    updated_at: 0n,
    triggered: firing,
  }
}
