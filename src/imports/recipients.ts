import type { Pool } from 'pg'
import type { SummaryRow } from '#src/store/imports/progress.ts'
import * as store from '#src/store/imports/recipients.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { namedIn } from './named.ts'
import { openRecipientHash } from './recipient-hash.ts'

/**
 * Returns what became of every row of one recipient, and of every row rejected from the file in which the address stands
 * as a whole. A reject, with which no recipient is stored, is of whom it was found by, until the import is purged.
 */
export async function findRecipient(
  pool: Pool,
  { id, method, purged_at }: Pick<SummaryRow, 'id' | 'method' | 'purged_at'>,
  address: string,
): Promise<store.RecipientRow[]> {
  const recipient = address.trim()
  const { id: installation } = await loadInstallation(pool)
  const hash = openRecipientHash(installation, method)(recipient)
  const rows = await store.findRecipient(pool, BigInt(id), recipient, hash)
  return rows
    .filter(({ raw }) => raw === null || namedIn(raw, [{ line: 0n, recipient }]).length > 0)
    .map(({ raw, ...row }) => (row.state === 'rejected' && purged_at === null ? { ...row, recipient } : row))
}
