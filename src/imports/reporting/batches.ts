import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { findAll, findValue } from '#src/db/rows.ts'
import { BATCH_STATES, CALLS_OF_SOURCES, IS_CLAIM_EXPIRED, IS_DECIDABLE } from '#src/imports/states.ts'

const BatchRow = z.object({
  id: z.string(),
  fromLine: z.string(),
  toLine: z.string(),
  rows: z.number(),
  state: z.enum(BATCH_STATES),
  resends: z.number(),
  uncertain: z.boolean(),
  /** How many calls had rows of it in them, those of the batches it was split from too. */
  calls: z.number(),
  claimedAt: z.date().nullable(),
  /** When its last call began, whatever the outcome; null if none was made. */
  calledAt: z.date().nullable(),
  sentAt: z.date().nullable(),
  httpStatus: z.number().nullable(),
  errorCode: z.string().nullable(),
  /** Of every call made for it that was answered, in the order they were made. */
  requestIds: z.array(z.string()),
})
export type BatchRow = Readonly<z.infer<typeof BatchRow>>

/** With the platform's words, which may name recipients: the reader role may not read them. */
const BatchWithWords = BatchRow.extend({ message: z.string().nullable() })
export type BatchWithWords = Readonly<z.infer<typeof BatchWithWords>>

const COLUMNS = `b.id, b.from_line, b.to_line, b.rows,
       case when ${IS_CLAIM_EXPIRED} then 'uncertain' else b.state end as state, b.resends,
       b.uncertain, b.claimed_at,
       (select max(c.started) from ferry.platform_calls c where c.batch_id = b.id or c.id = b.call_id) as called_at,
       b.sent_at, b.http_status, b.error_code,
       array(select c.request_id from ferry.platform_calls c
             where (c.batch_id = b.id or c.id = b.call_id) and c.request_id is not null order by c.id) as request_ids,
       (select count(*)::int from ${CALLS_OF_SOURCES}) as calls`

/** Returns the batches of an import in the order of their lines, without those that were split. */
export function listBatches(client: PoolClient, id: bigint): Promise<BatchWithWords[]> {
  return findAll(
    client,
    BatchWithWords,
    `select ${COLUMNS}, b.message from ferry.import_batches b
     where b.import_id = $1 and b.state <> 'split' order by b.from_line`,
    [id],
  )
}

/** Which batches of an import are wanted: all, those that are not sent, or those that a person may decide about. */
export const BATCH_CHOICES = ['all', 'unsent', 'uncertain'] as const
export type BatchChoice = (typeof BATCH_CHOICES)[number]

/** Each is by an index: of sent batches there may be tens of thousands. */
const CHOSEN: Readonly<Record<BatchChoice, string>> = {
  all: `b.state <> 'split'`,
  unsent: `b.state not in ('sent', 'split')`,
  uncertain: `b.state not in ('sent', 'split') and ${IS_DECIDABLE}`,
}

/** Returns the batches of an import that begin before a line, the last lines first: they are the latest. */
export function listBatchesBefore(
  pool: Pool,
  id: bigint,
  { choice = 'all', before = null, limit }: { choice?: BatchChoice; before?: bigint | null; limit: number },
): Promise<BatchRow[]> {
  return findAll(
    pool,
    BatchRow,
    `select ${COLUMNS} from ferry.import_batches b
     where b.import_id = $1 and ${CHOSEN[choice]} and b.from_line < $2 order by b.from_line desc limit $3`,
    [id, before ?? MAX_LINE, limit],
  )
}

const MAX_LINE = 2n ** 63n - 1n

/** Returns how many batches of an import were sent, by their index alone. */
export function countSentBatches(pool: Pool, id: bigint): Promise<number> {
  const text = `select count(*)::int from ferry.import_batches where import_id = $1 and state = 'sent'`
  return findValue(pool, z.number(), text, [id])
}

/** Returns the import of each of these batches. */
export async function importsOfBatches(
  pool: Pool,
  batches: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (batches.length === 0) return new Map()
  const text = 'select id, import_id from ferry.import_batches where id = any ($1::bigint[])'
  const found = await findAll(pool, ImportOfBatch, text, [batches])
  return new Map(found.map(({ id, importId }) => [id, importId]))
}

const ImportOfBatch = z.object({ id: z.string(), importId: z.string() })
