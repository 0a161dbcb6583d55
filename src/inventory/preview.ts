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
  /** Of a change: each field that differs, with its values before and after as Postgres writes them. */
  readonly fields: Readonly<Record<string, { readonly before: string | null; readonly after: string | null }>>
}

/** As many differences of each kind as fit a screen. */
const SAMPLES = 5

/** Reads the inventory once and returns what would change; writes nothing. A refusal is returned as it is. */
export function previewSync(
  context: InventoryContext,
  request: Pick<SyncRequest, 'account' | 'resource' | 'folders'>,
  signal: AbortSignal,
): Promise<SyncPreview | Refusal> {
  const account = accountOf(context, request.account)
  return request.resource === 'alert-rules'
    ? previewSource(context, alertRules(account, request.folders), account.name, signal)
    : previewSource(context, mcpServers(account), account.name, signal)
}

async function previewSource<Row>(
  context: InventoryContext,
  source: Source<Row>,
  account: string,
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
  const changedIds = plan.changed.slice(0, SAMPLES).map(idOf)
  const before = await loadDocuments(pool, source.table, account, changedIds)
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
      ...plan.added.slice(0, SAMPLES).map(n => ({ id: idOf(n), change: 'added' as const, fields: {} })),
      ...plan.changed.slice(0, SAMPLES).map(n => ({
        id: idOf(n),
        change: 'changed' as const,
        fields: differingFields(source, before.get(idOf(n)) ?? {}, rows[n] as Row),
      })),
      ...plan.absent.slice(0, SAMPLES).map(id => ({ id, change: 'removed' as const, fields: {} })),
    ],
  }
}

function differingFields<Row>(
  source: Source<Row>,
  stored: Readonly<Record<string, string | null>>,
  row: Row,
): SampleDifference['fields'] {
  const fields: Record<string, { before: string | null; after: string | null }> = {}
  for (const [name, value] of source.table.columns) {
    const before = stored[name] ?? null
    const after = value(row)
    const same = source.table.jsonColumns.has(name) ? sameJson(before, after) : before === after
    if (!same) fields[name] = { before, after }
  }
  return fields
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
