import type { Pool } from 'pg'
import { findRow } from '#src/imports/progress.ts'
import { openRecipientHash } from '#src/imports/recipient-hash.ts'
import { findRecipient, listRecipients, type RecipientRow } from '#src/store/imports/recipients.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { CommandFailed } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { harmless, instant, writeLines } from '../output.ts'

/** Prints what became of every row that is no reject, or of every row of one recipient. */
export async function showRecipients(
  pool: Pool,
  id: bigint,
  address: string | undefined,
  options: { json?: true },
): Promise<ExitCode> {
  const { method } = await findRow(pool, id)
  const line = options.json ? (row: RecipientRow) => jsonOf(id, row) : textOf
  if (!options.json) await writeLines([columns(HEAD)])
  if (address === undefined) {
    for await (const rows of listRecipients(pool, id)) {
      if (!(await writeLines(rows.map(line)))) break
    }
    return EXIT.done
  }
  const { id: installation } = await loadInstallation(pool)
  const rows = await findRecipient(pool, id, address, openRecipientHash(installation, method)(address))
  if (rows.length === 0) throw new CommandFailed(`no row of import ${id} is of that recipient`)
  await writeLines(rows.map(line))
  return EXIT.done
}

/** The recipient is last: it alone has no natural width. */
const HEAD = ['line', 'state', 'batch', 'sent', 'call', 'request_id', 'recipient']

function textOf({
  line,
  state,
  reason,
  batch,
  resends,
  sent_at,
  call,
  request_id,
  recipient,
}: RecipientRow): string {
  const again = resends !== null && resends > 0 ? `, resent ${resends}` : ''
  const why = reason === null ? '' : ` (${reason})`
  return harmless(
    columns([line, state + again, batch, instant(sent_at), call, request_id, (recipient ?? 'purged') + why]),
  )
}

const WIDTHS = [9, 18, 9, 21, 9, 34]

function columns(cells: readonly (string | null)[]): string {
  return cells.map((cell, index) => (cell ?? '').padEnd(WIDTHS[index] ?? 0)).join(' ')
}

function jsonOf(id: bigint, row: RecipientRow): string {
  const { line, recipient, state, reason, batch, resends, sent_at, call, request_id } = row
  return JSON.stringify({
    import: id.toString(),
    line,
    recipient,
    state,
    reason,
    batch,
    resends,
    sentAt: sent_at,
    call,
    requestId: request_id,
  })
}
