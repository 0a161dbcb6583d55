import type { PoolClient } from 'pg'
import { and, desc, drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { importBatches } from '#src/imports/schema.ts'
import type { ResponseDetails } from './pause.ts'

/*
 * Rows that were refused alone, and are not rejected for that yet; `decide.ts` says why. Stored as `doubted`.
 */

/**
 * Has suspects sent once more: those refused before the call `acceptedCall` began, or all. Their reasons stay, by which
 * the next refusal is known to be the second.
 */
export async function retrySuspects(
  client: PoolClient,
  importId: bigint,
  acceptedCall: bigint | null,
): Promise<void> {
  await client.query(
    `update ferry.import_batches b set state = 'ready'
     where b.import_id = $1 and b.state = 'doubted' and ($2::bigint is null
       or (select (r.value ->> 'toCall')::bigint from jsonb_each(b.reasons) r limit 1) < $2)`,
    [importId, acceptedCall],
  )
}

/** Forgets what rows were blamed for before a pause: what was wrong may have been corrected since. */
export async function forgetBlame(client: PoolClient, importId: bigint): Promise<void> {
  await client.query(
    `update ferry.import_batches set state = 'ready', set_aside = '{}', reasons = '{}'
     where import_id = $1 and (state = 'doubted' or state = 'ready' and reasons <> '{}')`,
    [importId],
  )
}

/** How the platform answered last to a suspect; null if there is none. */
export async function loadSuspectDetails(
  client: PoolClient,
  importId: bigint,
): Promise<ResponseDetails | null> {
  const { http_status: httpStatus, error_code: errorCode, request_id: requestId, message } = importBatches
  const [details] = await drizzleOf(client)
    .select({ httpStatus, errorCode, requestId, message })
    .from(importBatches)
    .where(and(eq(importBatches.import_id, importId), sql`${importBatches.state} = 'doubted'`))
    .orderBy(desc(importBatches.call_id))
    .limit(1)
  return details ?? null
}
