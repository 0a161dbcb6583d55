import type { importRejects } from '#src/imports/schema.ts'
import { parseRecord } from '#src/imports/staging/file/csv-record.ts'
import { columnsOfRejects, nameOf, REJECT_COLUMNS } from '#src/imports/staging/file/header.ts'
import { escapeCell } from '#src/model/csv-cells.ts'
import { parseLossless, stringifyLossless } from '#src/platform/lossless-json.ts'

/** A rejected row. Its `raw` is null once the import is purged. */
export type Reject = Pick<
  typeof importRejects.$inferSelect,
  'line' | 'reason' | 'message' | 'request_id' | 'raw'
>

/** How rejects are written into a file. */
export type RejectLines = { readonly header: string; lineOf(reject: Reject): string }

/** Writes them as a CSV with the columns of the file they come from, and Ferry's. */
export function csvOfRejects(columns: readonly string[], delimiter: string): RejectLines {
  // The file was itself a file of rejects: its last columns are Ferry's, and its cells have been escaped before.
  const ours = columnsOfRejects(columns)
  const own = columns.slice(0, columns.length - ours)
  const safe = ours > 0 ? (cell: string) => cell : escapeCell
  const record = (cells: readonly string[]) => cells.map(cell => quoted(cell, delimiter)).join(delimiter)

  function cellsOf(raw: string | null): readonly string[] {
    const cells = raw === null ? [] : (parseRecord(raw, delimiter) ?? [])
    if (cells.length === columns.length) return cells.slice(0, own.length).map(safe)
    return own.map((_, n) => (n === 0 ? escapeCell(raw ?? '') : ''))
  }

  return {
    header: `${[...own.map(safe).map(quotedName), ...REJECT_COLUMNS].join(delimiter)}\n`,
    lineOf({ line, reason, message, request_id, raw }) {
      const added = [String(line), reason, message, request_id ?? ''].map(escapeCell)
      return `${record([...cellsOf(raw), ...added])}\n`
    },
  }
}

/** Writes them as NDJSON: the objects as they were in the file, with Ferry's keys after theirs. */
export function ndjsonOfRejects(): RejectLines {
  return {
    header: '',
    lineOf({ line, reason, message, request_id, raw }) {
      const added = JSON.stringify({ line: Number(line), reason, message, request_id })
      const own = raw === null ? '' : membersOf(raw)
      return `{${own}${own === '' ? '' : ','}${added.slice(1)}\n`
    },
  }
}

/** Returns what is between the braces, letter for letter, so that no number loses a digit. */
function membersOf(raw: string): string {
  const row = parsed(raw)
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return `"raw":${JSON.stringify(raw)}`
  const names = REJECT_COLUMNS.map(nameOf)
  if (!names.every(name => Object.keys(row).some(key => nameOf(key) === name))) {
    return raw.trim().slice(1, -1).trim()
  }
  const own = Object.entries(row).filter(([key]) => !names.includes(nameOf(key)))
  return stringifyLossless(Object.fromEntries(own)).slice(1, -1)
}

function quoted(cell: string, delimiter: string): string {
  return cell.includes(delimiter) || /["\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** Quotes a name that could be mistaken for several columns, or for another kind of file. */
function quotedName(name: string): string {
  return /^\w[\w .'/()-]*$/.test(name) && name === name.trim() ? name : `"${name.replaceAll('"', '""')}"`
}

function parsed(json: string): unknown {
  try {
    return parseLossless(json)
  } catch {
    return undefined
  }
}
