import type { Pool } from 'pg'
import {
  findRecipient,
  listRecipients,
  nobodyFound,
  type RecipientRow,
} from '#src/imports/reporting/recipients.ts'
import { findSummaryRow } from '#src/imports/reporting/summary.ts'
import { CommandFailed } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { harmless, instant, writeLines } from '../output.ts'

/** Prints what happened to every row, or to the rows of one recipient. */
export async function showRecipients(
  pool: Pool,
  id: bigint,
  address: string | undefined,
  options: { json?: true },
): Promise<ExitCode> {
  const found = await findSummaryRow(pool, id)
  const isPurged = found.purgedAt !== null
  const line = (row: RecipientRow) => (options.json ? jsonOf(id, row) : textOf(row, isPurged))
  if (address === undefined) {
    if (!options.json) await writeLines([columns(HEAD)])
    for await (const rows of listRecipients(pool, id)) {
      if (!(await writeLines(rows.map(line)))) break
    }
    return EXIT.done
  }
  const rows = await findRecipient(pool, found, address)
  if (rows.length === 0) throw new CommandFailed(nobodyFound(id, isPurged))
  await writeLines([...(options.json ? [] : [columns(HEAD)]), ...rows.map(line)])
  return EXIT.done
}

/** The recipient is last, because its width varies most. */
const HEAD = ['line', 'state', 'batch', 'sent', 'call', 'request_id', 'recipient']

function textOf(row: RecipientRow, isPurged: boolean): string {
  const { line, state, batch, resends, sentAt, call, requestId } = row
  const again = resends !== null && resends > 0 ? `, resent ${resends}` : ''
  const recipient = row.recipient ?? (isPurged ? 'purged' : '')
  const why = [row.reason, row.message].filter(words => words !== null).join(': ')
  const whose = [recipient, why && `(${why})`].filter(Boolean).join(' ')
  return harmless(columns([line, state + again, batch, instant(sentAt), call, requestId, whose]))
}

const WIDTHS = [9, 18, 9, 21, 9, 34]

function columns(cells: readonly (string | null)[]): string {
  return cells.map((cell, index) => (cell ?? '').padEnd(WIDTHS[index] ?? 0)).join(' ')
}

function jsonOf(id: bigint, row: RecipientRow): string {
  return JSON.stringify({ import: id.toString(), ...row })
}
