import type { PoolClient } from 'pg'
import { findByIndex } from './by-index.ts'

/*
 * Writes outcomes down. All of it happens in the transaction that has locked the import's row.
 */

/** The import as an outcome finds it; `sent`, `rejected` by the platform and `doubted` are rows. */
export type ImportNow = {
  readonly status: string
  readonly onUncertain: 'resend' | 'hold'
  readonly accepted: number
  readonly unaccepted: number
  readonly failures: number
  readonly mostRows: number | null
  readonly mostRejects: number
  readonly sent: number
  readonly rejected: number
  readonly doubted: number
}

/** What the next claim depends on. */
export type Standing = Pick<ImportNow, 'accepted' | 'failures'>

/** Locks an import until the transaction ends. */
export async function lockForOutcome(client: PoolClient, importId: bigint): Promise<Standing> {
  const { rows } = await client.query<Standing>(
    'select accepted, failures from ferry.imports where id = $1 for update',
    [importId],
  )
  return only(rows)
}

/**
 * How an import stands that is locked already: a statement that locked and counted would count with a snapshot older
 * than the lock.
 */
export async function loadNow(client: PoolClient, importId: bigint): Promise<ImportNow> {
  const { rows } = await client.query<ImportNow>(
    `select i.status, i.on_uncertain as "onUncertain", i.accepted, i.unaccepted, i.failures,
       i.most_rows as "mostRows", i.most_rejects as "mostRejects", i.sent, i.rejected_by_platform as rejected,
       (select coalesce(sum(b.rows), 0)::int from ferry.import_batches b
        where b.import_id = i.id and b.state = 'doubted') as doubted
     from ferry.imports i where i.id = $1`,
    [importId],
  )
  return only(rows)
}

function only<Row>([row]: readonly Row[]): Row {
  if (!row) throw new Error('the import is gone')
  return row
}

export type BatchInFlight = {
  readonly id: bigint
  readonly rows: number
  readonly setAside: readonly bigint[]
  /** Whether it was uncertain before this call. */
  readonly uncertain: boolean
  /** What its last call was refused with; null if it had none, or is a half of another. */
  readonly lastCode: string | null
}

/** The batch of a claim; null if the claim was settled meanwhile, so that its outcome changes nothing. */
export async function findClaimed(client: PoolClient, claim: string): Promise<BatchInFlight | null> {
  const { rows } = await client.query<
    Omit<BatchInFlight, 'id' | 'setAside'> & { id: string; setAside: string[] }
  >(
    `select id, rows, set_aside as "setAside", uncertain, error_code as "lastCode" from ferry.import_batches
     where claim = $1 and state = 'in flight' for update`,
    [claim],
  )
  const [row] = rows
  return row ? { ...row, id: BigInt(row.id), setAside: row.setAside.map(BigInt) } : null
}

/** What was said of a batch at the end of its call; `message` holds no recipient. */
export type Said = {
  readonly httpStatus: number | null
  readonly errorCode: string | null
  readonly requestId: string | null
  readonly message: string | null
}

export type BatchEnd =
  | { readonly to: 'sent' | 'uncertain' | 'split' | 'doubted' | 'rejected' }
  | { readonly to: 'ready'; readonly setAside: readonly bigint[]; readonly resent: boolean }

/** Ends a claim: the batch's new state, and what was said. Lines to be rejected are still to be moved. */
export async function endClaim(
  client: PoolClient,
  batch: BatchInFlight,
  end: BatchEnd,
  said: Said,
): Promise<void> {
  const resent = end.to === 'ready' && end.resent
  const becomesUncertain = resent || end.to === 'uncertain'
  const isDecided = end.to === 'sent' || end.to === 'rejected'
  await client.query(
    `update ferry.import_batches set state = $2, claim = null, claim_ends_at = null,
       set_aside = coalesce($3::bigint[], set_aside), resends = resends + $4::int,
       uncertain = (uncertain or $5) and not $6, http_status = $7, error_code = $8, request_id = $9, message = $10,
       sent_at = case when $2 = 'sent' then clock_timestamp() end
     where id = $1`,
    [
      batch.id,
      end.to,
      end.to === 'ready' ? end.setAside : null,
      resent ? 1 : 0,
      becomesUncertain,
      isDecided,
      said.httpStatus,
      said.errorCode,
      said.requestId,
      said.message,
    ],
  )
  if (end.to === 'split') await client.query('select ferry.split_batch($1)', [batch.id])
  if (end.to === 'uncertain') {
    await client.query(
      `select ferry.carve_batch(id, $2) from ferry.import_batches where id = $1 and set_aside <> '{}'`,
      [batch.id, batch.uncertain],
    )
  }
}

/** The platform's words about a line; `message` holds no recipient. */
export type Reason = {
  readonly code: string
  readonly message: string
  readonly requestId: string | null
}

/** Keeps what was said of lines, for the day they are rejected. */
export async function keepReasons(
  client: PoolClient,
  batchId: bigint,
  lines: readonly bigint[],
  reason: Reason,
): Promise<void> {
  await client.query(
    `update ferry.import_batches set reasons = reasons || (
       select coalesce(jsonb_object_agg(line, $3::jsonb), '{}') from unnest($2::bigint[]) as line)
     where id = $1`,
    [batchId, lines, JSON.stringify(reason)],
  )
}

/** Moves lines to the rejects: those set aside of one batch, or all of some. */
export async function rejectRows(
  client: PoolClient,
  importId: bigint,
  which: { readonly setAsideOf: bigint } | { readonly allOf: bigint } | 'doubted',
): Promise<void> {
  const chosen = which === 'doubted' ? null : 'allOf' in which ? which.allOf : which.setAsideOf
  const onlySetAside = which !== 'doubted' && 'setAsideOf' in which
  await findByIndex(client)
  await client.query(
    `with recursive b as (
       select * from ferry.import_batches where id = $2
       union all
       select * from ferry.import_batches where import_id = $1 and state = 'doubted' and $2::bigint is null
     ), gone as (
       delete from ferry.import_recipients r using b
       where r.import_id = $1 and r.line between b.from_line and b.to_line
         and (not $3 or r.line = any (b.set_aside))
       returning r.*, b.id as batch_id, b.reasons -> r.line::text as why
     ), kept as (
       insert into ferry.import_rejects
         (import_id, line, origin, reason, message, recipient_hash, batch_id, error_code, request_id, raw)
       select import_id, line, 'platform', 'refused by the platform', why ->> 'message', recipient_hash, batch_id,
         why ->> 'code', why ->> 'requestId', raw
       from gone
     ), less as (
       update ferry.imports set recipients = recipients - g.rows, rejected = rejected + g.rows,
         rejected_by_platform = rejected_by_platform + g.rows
       from (select count(*) as rows from gone) g where id = $1
     ), fewer as (
       select batch_id as id, count(*) as rows from gone group by batch_id
     ), around as (
       select f.id as leaf, f.id, f.rows from fewer f
       union all
       select a.leaf, p.parent_id, a.rows from around a join ferry.import_batches p on p.id = a.id
       where p.parent_id is not null
     )
     -- The batches that were split into these have the rows of them in their range too.
     update ferry.import_batches p set rows = p.rows - n.rows,
       state = case when p.state = 'doubted' and p.id = n.leaf then 'rejected' else p.state end,
       set_aside = case when p.id = n.leaf then '{}' else p.set_aside end,
       reasons = case when p.id = n.leaf then '{}' else p.reasons end
     from (
       select a.id, max(a.leaf) filter (where a.leaf = a.id) as leaf, sum(a.rows) as rows from around a group by a.id
     ) n
     where p.id = n.id`,
    [importId, chosen, onlySetAside],
  )
}

/** What was last said of a row refused alone; null if none is. */
export async function loadDoubt(client: PoolClient, importId: bigint): Promise<Said | null> {
  const { rows } = await client.query<Said>(
    `select http_status as "httpStatus", error_code as "errorCode", request_id as "requestId", message
     from ferry.import_batches where import_id = $1 and state = 'doubted' order by call_id desc limit 1`,
    [importId],
  )
  return rows[0] ?? null
}

/** What is remembered of an import after a call. */
export type ImportMemory = Pick<
  ImportNow,
  'accepted' | 'unaccepted' | 'failures' | 'mostRows' | 'mostRejects'
> & { readonly retryAfterMs: number | null }

export async function rememberOutcome(
  client: PoolClient,
  importId: bigint,
  memory: ImportMemory,
): Promise<void> {
  await client.query(
    `update ferry.imports set accepted = $2, unaccepted = $3, failures = $4, most_rows = $5, most_rejects = $6,
       retry_at = clock_timestamp() + $7 * interval '1 ms'
     where id = $1`,
    [
      importId,
      memory.accepted,
      memory.unaccepted,
      memory.failures,
      memory.mostRows,
      memory.mostRejects,
      memory.retryAfterMs,
    ],
  )
}

/** Why Ferry paused an import; holds no recipient. */
export type Pause = {
  readonly code: string
  readonly requestId: string | null
  readonly message: string
  readonly whatToDo: string
}

/** Pauses an import that is running; one that a person has paused or cancelled stays as it is. */
export async function pauseRunning(client: PoolClient, importId: bigint, pause: Pause): Promise<void> {
  await client.query(
    `update ferry.imports set status = 'paused', pause_code = $2, pause_request_id = $3, pause_message = $4,
       pause_what_to_do = $5
     where id = $1 and status = 'running'`,
    [importId, pause.code, pause.requestId, pause.message, pause.whatToDo],
  )
}
