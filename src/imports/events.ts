import type { PoolClient } from 'pg'
import { drizzleOf, eq } from '#src/db/drizzle.ts'
import { raiseEvent, resolveEvent } from '#src/db/outbox.ts'
import { onlyRow } from '#src/db/rows.ts'
import type { EventData, EventKey } from '#src/model/event.ts'
import { imports } from './schema.ts'

/** The statuses that somebody is told of, while an import has them. */
const LASTING = { paused: 'import.paused', undecided: 'import.undecided' } as const

/**
 * Tells of the status that an import has just got, in the transaction that wrote it, and that an earlier one is over. Of a
 * pause it tells the code, not the platform's words: these might name somebody.
 */
export async function tellOfStatus(client: PoolClient, importId: bigint): Promise<void> {
  const { account, page_id, status, pause_code, pause_request_id } = imports
  const rows = await drizzleOf(client)
    .select({ account, page: page_id, status, code: pause_code, requestId: pause_request_id })
    .from(imports)
    .where(eq(imports.id, importId))
  const row = onlyRow(rows, 'telling of the status of an import')
  const about = (kind: EventKey['kind']) => ({ kind, account: row.account, subject: `${importId}` })
  const data: EventData = { import: `${importId}`, page: `${row.page}` }
  for (const [status, kind] of Object.entries(LASTING)) {
    if (row.status !== status) await resolveEvent(client, about(kind))
  }
  if (row.status === 'paused') {
    await raiseEvent(client, about('import.paused'), { ...data, code: row.code, requestId: row.requestId })
  }
  if (row.status === 'undecided') await raiseEvent(client, about('import.undecided'), data)
  if (row.status === 'completed') await raiseEvent(client, about('import.completed'), data)
}
