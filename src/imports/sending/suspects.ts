import type { PoolClient } from 'pg'
import { and, desc, drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { importBatches } from '#src/imports/schema.ts'
import type { ResponseDetails } from './pause.ts'

/*
 * Rows that were refused alone, and are not rejected for that yet; `decide.ts` says why. Stored as `suspect`.
 */

/**
 * Has suspects sent once more: those refused before the call `acceptedCall` began. Their reasons stay, by which the next
 * refusal is known to be the second.
 */
export async function retrySuspects(
  client: PoolClient,
  importId: bigint,
  acceptedCall: bigint,
): Promise<void> {
  await client.query(
    `update ferry.import_batches b set state = 'ready'
     where b.import_id = $1 and b.state = 'suspect' and $2 >
       (select (r.value ->> 'toCall')::bigint from jsonb_each(b.reasons) r limit 1)`,
    [importId, acceptedCall],
  )
}

/** Says nothing of the page: whatever the platform accepts, it accepts this too if it is small enough. */
const ONLY_OF_THE_ROW = 'EntityTooLarge'

/**
 * Has those suspects sent once more that the page cannot be blamed for: they were too large and the platform has accepted any
 * call, it has accepted a call that was made after theirs, or rows around them (a batch that held the suspect was refused with
 * the same code, rows of it were accepted since, and none was rejected). Returns how many.
 */
export async function retrySuspectsAmongSent(client: PoolClient, importId: bigint): Promise<number> {
  const { rowCount } = await client.query(
    `update ferry.import_batches b set state = 'ready'
     where b.import_id = $1 and b.state = 'suspect' and (exists (
       select from ferry.import_batches s where s.import_id = $1 and s.state = 'sent'
         and (s.call_id > b.call_id or b.error_code = '${ONLY_OF_THE_ROW}'))
     or exists (
       with recursive around as (
         select p.* from ferry.import_batches p where p.id = b.parent_id
         union all
         select p.* from around a join ferry.import_batches p on p.id = a.parent_id
       )
       select from around a
       where a.error_code = b.error_code and exists (
         select from ferry.import_batches s
         where s.import_id = $1 and s.state = 'sent' and s.from_line between a.from_line and a.to_line)
       and not exists (
         select from ferry.import_rejects j
         where j.import_id = $1 and j.origin = 'platform' and j.line between a.from_line and a.to_line)))`,
    [importId],
  )
  return rowCount ?? 0
}

/** Notes that a person is asked about the suspects: the import is paused because nothing else is left to send. */
export async function noteAsked(client: PoolClient, importId: bigint): Promise<void> {
  await client.query(
    `update ferry.import_batches b set reasons = (
       select jsonb_object_agg(r.key, r.value || '{"asked": true}') from jsonb_each(b.reasons) r)
     where b.import_id = $1 and b.state = 'suspect'`,
    [importId],
  )
}

/** In SQL, whether a person was asked about the only row of a batch, and resumed the import. */
export function isAsked(reasons: string): string {
  return `jsonb_path_exists(${reasons}, '$.*.asked')`
}

/**
 * Forgets what rows were blamed for before a pause: what was wrong may have been corrected since. Only of suspects that the
 * person who resumed was asked about the reason stays: refused again, they are rejects. Rows set aside of an uncertain batch may
 * not have been in the call whose outcome is unknown: each becomes a batch of its own, which is not uncertain.
 */
export async function forgetBlame(client: PoolClient, importId: bigint): Promise<void> {
  await client.query(
    `select ferry_internal.carve_batch(id, false) from ferry.import_batches
     where import_id = $1 and state = 'ready' and uncertain and set_aside <> '{}'`,
    [importId],
  )
  await client.query(
    `update ferry.import_batches set state = 'ready', set_aside = '{}',
       reasons = case when state = 'suspect' and ${isAsked('reasons')} then reasons else '{}' end
     where import_id = $1 and (state = 'suspect' or state = 'ready' and reasons <> '{}')`,
    [importId],
  )
}

/** The platform's last answer to a suspect; null without suspects. */
export async function loadSuspectDetails(
  client: PoolClient,
  importId: bigint,
): Promise<ResponseDetails | null> {
  const { http_status: httpStatus, error_code: errorCode, request_id: requestId, message } = importBatches
  const [details] = await drizzleOf(client)
    .select({ httpStatus, errorCode, requestId, message })
    .from(importBatches)
    .where(and(eq(importBatches.import_id, importId), sql`${importBatches.state} = 'suspect'`))
    .orderBy(desc(importBatches.call_id))
    .limit(1)
  return details ?? null
}
