import type { Pool } from 'pg'
import { knownSetCheck } from './absence.ts'
import type { Found } from './apply.ts'
import { type ChangeSink, comparer } from './compare.ts'
import type { ListedRows } from './listed-rows.ts'
import { UNREADABLE_ID } from './messages.ts'
import { openReading, type Reading } from './reading.ts'
import type { InventorySource, ReadRequest, ReadResult } from './source.ts'

/** A refusal, or what a reading found beside the changes that were passed on. */
export type SourceReading =
  | Extract<ReadResult, { readonly kind: 'refused' }>
  | (Extract<ReadResult, { readonly kind: 'read' }> & { readonly found: Found })

/**
 * Reads what the platform lists, compares it with what is stored, and passes to `changes` what differs. Once this has
 * settled, nothing is passed on any more.
 */
export function readSource<Row>(
  pool: Pool,
  source: InventorySource<Row>,
  account: string,
  listed: ListedRows,
  changes: ChangeSink<Row>,
  request: RunRequest,
): Promise<SourceReading> {
  const reading = openReading(source, listed, comparer(pool, source, account, listed), changes)
  return read(pool, source, account, reading, request)
}

/** Reads what the platform lists once more, and notes in `listed` which rows are there: what is in them does not count. */
export function listSource<Row>(
  pool: Pool,
  source: InventorySource<Row>,
  account: string,
  listed: ListedRows,
  request: RunRequest,
): Promise<SourceReading> {
  const reading = openReading<Row>(source, listed, async () => NOT_COMPARED, NOWHERE)
  return read(pool, source, account, reading, request)
}

type RunRequest = Pick<ReadRequest<unknown>, 'runId' | 'signal'>

const NOT_COMPARED = { changes: { added: [], changed: [], began: [], ended: [], bytes: 0 }, states: [] }
const NOWHERE = { mark() {}, rewind() {}, async write() {} }

async function read<Row>(
  pool: Pool,
  source: InventorySource<Row>,
  account: string,
  reading: Reading<Row>,
  { runId, signal }: RunRequest,
): Promise<SourceReading> {
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
