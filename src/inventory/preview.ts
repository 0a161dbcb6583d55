import { isDeepStrictEqual } from 'node:util'
import { isSuspicious } from '#src/model/removal-guard.ts'
import type { Resource } from '#src/model/resource.ts'
import type { RunCounts } from '#src/model/run.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import { scopeIsKnown } from '#src/store/runs.ts'
import { loadDocuments } from '#src/store/versions.ts'
import { alertRules } from './alert-rules.ts'
import type { InventoryContext } from './context.ts'
import { mcpServers } from './mcp-servers.ts'
import { knownSetCheck, type Plan, planChanges } from './plan.ts'
import type { Source } from './source.ts'
import { accountOf, type SyncRequest } from './sync.ts'

/** What a sync would do if it ran now. */
export type SyncPreview = RunCounts & {
  readonly account: string
  readonly resource: Resource
  readonly requests: number
  /** Why nothing would be removed though rows are absent, or that the removals would be held; null otherwise. */
  readonly note: string | null
  readonly samples: readonly SampleDifference[]
}

export type SampleDifference = {
  readonly id: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly name: string | null
  /** The folder of a rule; servers are in none. */
  readonly folder: bigint | null
  /** Who updated a rule last; nobody is named for a removal. */
  readonly by: string | null
  /** Of a change: each field that differs, with its values before and after; ids are bigints. */
  readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>
}

export type PreviewRequest = Pick<SyncRequest, 'account' | 'resource' | 'folders'> & {
  /** How many differences of each kind are wanted; a few unless said otherwise. */
  readonly samples?: number
}

/** As many as fit a screen. */
const SAMPLES = 5

/** Reads the inventory once and returns what would change; writes nothing. A refusal is returned as it is. */
export function previewSync(
  context: InventoryContext,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<SyncPreview | Refusal> {
  const account = accountOf(context, request.account)
  const { samples = SAMPLES } = request
  return request.resource === 'alert-rules'
    ? previewSource(context, alertRules(account, request.folders), account.name, samples, signal)
    : previewSource(context, mcpServers(account), account.name, samples, signal)
}

async function previewSource<Row>(
  context: InventoryContext,
  source: Source<Row>,
  account: string,
  samples: number,
  signal: AbortSignal,
): Promise<SyncPreview | Refusal> {
  const { pool } = context
  const isKnownSet = knownSetCheck(pool, source, account)
  const reading = await source.read({ runId: null, signal, trustedHashes: [], isKnownSet })
  if (reading.kind === 'refused') return reading.refusal
  if (reading.kind === 'identical')
    throw new Error('nothing was trusted, yet the reading was called identical')

  const plan = await planChanges(pool, source, account, reading.listing)
  const { rows, quarantined } = reading.listing
  const idOf = (n: number) => source.table.idOf(rows[n] as Row)
  const absent = plan.absent.slice(0, samples)
  const storedIds = [...plan.changed.slice(0, samples).map(idOf), ...absent]
  const stored = await loadDocuments(pool, source.table, account, storedIds)
  const sampleOf = (n: number, change: 'added' | 'changed'): SampleDifference => {
    const row = rows[n] as Row
    const listed = Object.fromEntries(source.table.columns.map(([name, value]) => [name, value(row)]))
    const fields = change === 'added' ? {} : differingFields(source, stored.get(idOf(n)) ?? {}, listed)
    return { id: idOf(n), change, ...aboutRow(listed), fields }
  }
  return {
    account,
    resource: source.resource,
    requests: reading.requests,
    seen: rows.length + quarantined.length,
    added: plan.added.length,
    changed: plan.changed.length,
    removed: reading.incomplete === null ? plan.absent.length : 0,
    unchanged: rows.length - plan.added.length - plan.changed.length,
    quarantined: quarantined.length,
    note: await noteOn(context, source, account, reading.incomplete, plan),
    samples: [
      ...plan.added.slice(0, samples).map(n => sampleOf(n, 'added')),
      ...plan.changed.slice(0, samples).map(n => sampleOf(n, 'changed')),
      ...absent.map(id => ({
        id,
        change: 'removed' as const,
        ...aboutRow(stored.get(id) ?? {}),
        by: null,
        fields: {},
      })),
    ],
  }
}

/** The contract's columns of one row, as text. */
type Document = Readonly<Record<string, string | null>>

function aboutRow(row: Document): Pick<SampleDifference, 'name' | 'folder' | 'by'> {
  return {
    name: row.name ?? row.server_name ?? null,
    folder: row.folder_id === undefined || row.folder_id === null ? null : BigInt(row.folder_id),
    by: row.updater_name ?? null,
  }
}

function differingFields<Row>(
  { table }: Source<Row>,
  stored: Document,
  listed: Document,
): SampleDifference['fields'] {
  const fields: Record<string, { before: unknown; after: unknown }> = {}
  for (const [name] of table.columns) {
    const before = stored[name] ?? null
    const after = listed[name] ?? null
    const same = table.jsonColumns.has(name) ? sameJson(before, after) : before === after
    if (!same) fields[name] = { before: typed(table, name, before), after: typed(table, name, after) }
  }
  return fields
}

const FLAGS = new Set(['enabled', 'debug_log_enabled', 'can_edit'])
const NUMBERS = new Set([
  'delay_seconds',
  'created_at',
  'updated_at',
  'connect_timeout',
  'call_timeout',
  'tool_count',
])

/** A column's text as the value it stands for. */
function typed<Row>(table: Source<Row>['table'], name: string, text: string | null): unknown {
  if (text === null) return null
  if (table.jsonColumns.has(name)) return JSON.parse(text)
  if (FLAGS.has(name)) return text === 'true'
  if (NUMBERS.has(name)) return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
  return /_id$|^created_by$/.test(name) ? BigInt(text) : text
}

/** Postgres spaces and orders jsonb in its own way. */
function sameJson(a: string | null, b: string | null): boolean {
  return a === b || (a !== null && b !== null && isDeepStrictEqual(JSON.parse(a), JSON.parse(b)))
}

async function noteOn<Row>(
  context: InventoryContext,
  { scope, resource }: Source<Row>,
  account: string,
  incomplete: string | null,
  { absent, current }: Plan<Row>,
): Promise<string | null> {
  if (absent.length === 0) return null
  if (incomplete !== null) return `${incomplete}: nothing would be removed`
  if (!(await scopeIsKnown(context.pool, { account, resource, scope }))) {
    return 'the first run in a new scope removes nothing'
  }
  if (isSuspicious(absent.length, current, context.removalGuard))
    return 'the removals would be held for a person'
  return 'the removals need a second listing that agrees'
}
