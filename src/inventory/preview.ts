import type { Resource } from '#src/model/resource.ts'
import type { RunCounts } from '#src/model/run.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import { compareListing, knownSetCheck } from './compare.ts'
import type { InventoryContext } from './context.ts'
import { decideRemovals } from './decide.ts'
import { noteOn } from './messages.ts'
import { type SampleDifference, sampleDifferences } from './sample-differences.ts'
import type { InventorySource } from './source.ts'
import { accountOf, withSource } from './sources.ts'
import type { SyncRequest } from './sync.ts'
import { loadEvidence } from './sync-source.ts'

/** What a sync would do if it ran now. */
export type SyncPreview = RunCounts & {
  readonly account: string
  readonly resource: Resource
  readonly requests: number
  /** What would become of rows that are absent; null if none is. */
  readonly note: string | null
  readonly samples: readonly SampleDifference[]
}

export type PreviewRequest = Pick<SyncRequest, 'account' | 'resource' | 'folders'> & {
  /** How many differences of each kind to return; a few by default. */
  readonly samples?: number
}

/** As many as fit on a screen. */
const SAMPLES = 5

/** Reads the inventory once and returns what a sync would change. Writes nothing. A refusal is returned as it is. */
export function previewSync(
  context: InventoryContext,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<SyncPreview | Refusal> {
  const account = accountOf(context, request.account)
  return withSource(account, request.resource, request.folders, source =>
    previewSource(context, source, account.name, request.samples ?? SAMPLES, signal),
  )
}

async function previewSource<Row>(
  context: InventoryContext,
  source: InventorySource<Row>,
  account: string,
  samples: number,
  signal: AbortSignal,
): Promise<SyncPreview | Refusal> {
  const { pool, removalGuard: guard } = context
  const { resource, scope } = source
  const isKnownSet = knownSetCheck(pool, source, account)
  const reading = await source.read({ runId: null, signal, trustedHashes: [], isKnownSet })
  if (reading.kind === 'refused') return reading.refusal
  if (reading.kind === 'identical')
    throw new Error('the reading was called identical, although no hash was trusted')

  const comparison = await compareListing(pool, source, account, reading.listing)
  const evidence = await loadEvidence(context, { account, resource, scope }, comparison)
  const removals = decideRemovals(reading.incomplete, comparison, { kind: 'guarded', guard }, evidence)
  const { rows, quarantined } = reading.listing
  return {
    account,
    resource,
    requests: reading.requests,
    seen: rows.length + quarantined.length,
    added: comparison.added.length,
    changed: comparison.changed.length,
    removed: reading.incomplete === null ? comparison.absent.length : 0,
    unchanged: rows.length - comparison.added.length - comparison.changed.length,
    quarantined: quarantined.length,
    note: comparison.absent.length === 0 ? null : noteOn(removals),
    samples: await sampleDifferences(pool, source, account, comparison, samples),
  }
}
