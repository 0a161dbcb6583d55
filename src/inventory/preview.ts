import type { Resource } from '#src/model/resource.ts'
import type { RunCounts } from '#src/model/run.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import { findAbsent } from './absence.ts'
import { appearanceOf, loadListedBefore } from './appearance.ts'
import type { InventoryContext } from './context.ts'
import { decideRemovals } from './decide.ts'
import { noteOn } from './messages.ts'
import { readSource } from './read-source.ts'
import { collectSamples, type SampleDifference, sampleDifferences } from './sample-differences.ts'
import type { InventorySource } from './source.ts'
import { accountOf, withSource } from './sources.ts'
import type { SyncRequest } from './sync.ts'
import { loadEvidence } from './sync-source.ts'

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
  const listing = await readSource(pool, source, account, listed, changes, { runId: null, signal })
  if (listing.kind === 'refused') return listing.refusal

  const { incomplete, found } = listing
  const { quarantined, seen, added, changed } = found
  const absence = await findAbsent(pool, source, account, listed)
  const evidence = await loadEvidence(context, { account, resource, scope }, absence)
  const removals = decideRemovals(incomplete, absence, { kind: 'guarded', guard }, evidence)
  const { absent } = absence
  return {
    account,
    resource,
    requests: listing.requests,
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
