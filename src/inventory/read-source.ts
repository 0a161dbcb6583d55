import type { Pool } from 'pg'
import { knownSetCheck } from './absence.ts'
import type { Found } from './apply.ts'
import { type ChangeSink, comparer } from './compare.ts'
import type { ListedRows } from './listed-rows.ts'
import { UNREADABLE_ID } from './messages.ts'
import { openReading } from './reading.ts'
import type { InventorySource, ReadRequest, ReadResult } from './source.ts'

/** A refusal, or what a reading found beside the changes that were passed on. */
export type SourceReading =
  | Extract<ReadResult, { readonly kind: 'refused' }>
  | (Extract<ReadResult, { readonly kind: 'read' }> & { readonly found: Found })

/**
 * Reads what the platform lists, compares it with what is stored, and passes to `changes` what differs. Once this has
 * settled, nothing is passed on any more.
 */
export async function readSource<Row>(
  pool: Pool,
  source: InventorySource<Row>,
  account: string,
  listed: ListedRows,
  changes: ChangeSink<Row>,
  { runId, signal }: Pick<ReadRequest<Row>, 'runId' | 'signal'>,
): Promise<SourceReading> {
  const reading = openReading(source, listed, comparer(pool, source, account, listed), changes)
  try {
    const isKnownSet = knownSetCheck(pool, source, account)
    const result = await source.read({ runId, signal, part: reading.part, isKnownSet })
    if (result.kind === 'refused') return result
    const found = { ...(await reading.end()), drift: result.drift }
    // A row whose id cannot be read may be any of those that seem absent.
    const incomplete = result.incomplete ?? (found.quarantined.hasUnreadableId ? UNREADABLE_ID : null)
    return { ...result, incomplete, found }
  } finally {
    await reading.stop()
  }
}
