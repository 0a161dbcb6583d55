import type { InventoryContext } from '#src/inventory/context.ts'
import { noteOn } from '#src/inventory/messages.ts'
import { readSource } from '#src/inventory/read/reading.ts'
import type { InventorySource } from '#src/inventory/source.ts'
import { accountOf, withSource } from '#src/inventory/sources.ts'
import type { SyncRequest } from '#src/inventory/sync.ts'
import type { Resource } from '#src/model/resource.ts'
import type { RunCounts } from '#src/model/run.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import { findAbsent } from './absence.ts'
import { appearanceOf, loadListedBefore } from './appearance.ts'
import { decideRemovals } from './decide.ts'
import { loadEvidence } from './evidence.ts'
import { collectSamples, type SampleDifference, sampleDifferences } from './sample-differences.ts'

/** What a sync would do if it ran now. */
export type SyncPreview = RunCounts & {
  readonly account: string
  readonly resource: Resource
  /** Of the added rows, those of a first reading. */
  readonly firstRead: number
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
  const listed = source.createListedRows()
  const listedBefore = await loadListedBefore(pool, { account, resource, runId: null }, scope)
  const changes = collectSamples<Row>(samples, row => appearanceOf(source.table, row, listedBefore))
  const reading = await readSource(pool, source, account, listed, { changes, runId: null, signal })
  if (reading.kind === 'refused') return reading.refusal

  const { incomplete, quarantined, seen, added, changed } = reading
  const absence = await findAbsent(pool, source, account, listed)
  const evidence = await loadEvidence(pool, { account, resource, scope }, absence)
  const removals = decideRemovals(incomplete, absence, { kind: 'guarded', guard }, evidence)
  const { absent } = absence
  return {
    account,
    resource,
    requests: reading.requests,
    seen,
    added,
    changed,
    removed: incomplete === null ? absent.length : 0,
    firstRead: changes.first().firstRead,
    unchanged: seen - quarantined.size - added - changed,
    quarantined: quarantined.size,
    note: absent.length === 0 ? null : noteOn(removals),
    samples: await sampleDifferences(pool, source, account, changes.first(), absent.slice(0, samples)),
  }
}
