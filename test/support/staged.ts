import type { Pool, PoolClient } from 'pg'
import { loadInstallation } from '#src/db/installation.ts'
import { inTransaction } from '#src/db/pool.ts'
import { cancelImport, confirmImport, pauseImport } from '#src/imports/control/decide.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { openRecipientHash } from '#src/imports/spellings.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import { LOST, openScriptedWorker, sendAll } from './scripted-worker.ts'

export type StagedImport = {
  account?: string
  pageId?: bigint
  method?: string
  file?: string
  rows?: number
  /** The recipient of a line; lines count from 2, as after a header. */
  recipient?: (line: number) => string
  /** What a row has other than all components and `en-US`. */
  settings?: (line: number) => Settings
  batchRows?: number
  firstRows?: number | null
  onUncertain?: 'resend' | 'hold'
  update?: boolean
  /** `completed`: the platform has accepted all of it; `undecided`: it has answered nothing. */
  status?: ImportStatus
}

type Settings = { readonly locale?: string; readonly componentIds?: readonly string[] }

/** An import of any status, confirmed unless told otherwise; returns its id. */
export async function stageRows(pool: Pool, staged: StagedImport = {}): Promise<bigint> {
  const { status = 'queued' } = staged
  const { id: installationId } = await loadInstallation(pool)
  const hashOf = openRecipientHash(installationId, staged.method ?? 'email')
  const { onUncertain = status === 'undecided' ? 'hold' : 'resend' } = staged
  const id = await inTransaction(pool, client => putRows(client, { ...staged, onUncertain }, hashOf))
  if (status !== 'staging') await confirmImport(pool, id, ADA)
  if (status === 'paused') await pauseImport(pool, id, ADA)
  if (status === 'cancelled') await cancelImport(pool, id, ADA)
  if (status === 'running') await (await openScriptedWorker(pool, id))[Symbol.asyncDispose]()
  if (status === 'completed') await sendAll(pool, id)
  if (status === 'undecided') await sendAll(pool, id, LOST)
  const reached = (await loadSummary(pool, id)).status
  if (reached !== status) throw new Error(`import ${id} is ${reached}, not ${status}`)
  return id
}

/**
 * Puts rows into the tables as staging leaves them; `staged.test.ts` compares the two. Staging a file takes 50 ms of
 * processor time, however small the file, and this 2 ms.
 */
async function putRows(
  client: PoolClient,
  staged: StagedImport,
  hashOf: (recipient: string) => string,
): Promise<bigint> {
  const { rows = 10, recipient = (line: number) => `p${line}@example.com` } = staged
  const settings: (line: number) => Settings = staged.settings ?? (() => ({}))
  const inserted = await client.query<{ id: string }>(
    `insert into ferry.imports (account, page_id, method, status, file, columns, options, on_uncertain,
       update_existing, batch_rows, first_rows, staged_at, read, recipients, last_line)
     values ($1, $2, $3, 'staging', $9, '{email}', '{}', $4, $5, $6, $7, clock_timestamp(), $8, $8, $8 + 1)
     returning id`,
    [
      staged.account ?? 'default',
      staged.pageId ?? SANDBOX_PAGE_ID,
      staged.method ?? 'email',
      staged.onUncertain ?? 'resend',
      staged.update ?? false,
      staged.batchRows ?? 500,
      staged.firstRows ?? null,
      rows,
      staged.file ?? 'test.csv',
    ],
  )
  const id = inserted.rows[0]?.id ?? ''
  const lines = Array.from({ length: rows }, (_, index) => index + 2)
  const recipients = lines.map(recipient)
  await client.query(
    `insert into ferry.import_recipients (import_id, line, recipient_hash, "all", component_ids, locale, recipient, raw)
     select $1, line, hash::uuid, components is null, string_to_array(components, '|'), locale, recipient, recipient
     from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[]) as
       r (line, hash, components, locale, recipient)`,
    [
      id,
      lines,
      recipients.map(hashOf),
      lines.map(line => settings(line).componentIds?.join('|') ?? null),
      lines.map(line => settings(line).locale ?? 'en-US'),
      recipients,
    ],
  )
  return BigInt(id)
}
