import type { importRejects } from '#src/imports/schema.ts'
import { parseRecord } from '#src/imports/staging/file/csv-record.ts'
import {
  columnsOfRejects,
  keysOfRejects,
  nameOf,
  rejectColumnsBeside,
} from '#src/imports/staging/file/header.ts'
import { escapeCell } from '#src/model/csv-cells.ts'
import { parseLossless, stringifyLossless } from '#src/platform/lossless-json.ts'

/** A rejected row. Its `raw` is null once the import is purged. */
export type Reject = Pick<
  typeof importRejects.$inferSelect,
  'line' | 'reason' | 'message' | 'request_id' | 'raw'
>

/** How rejects are written into a file. */
export type RejectLines = { readonly header: string; lineOf(reject: Reject): string }

/** Writes them as a CSV with the columns of the file they come from, of which some were `read`, and Ferry's. */
export function csvOfRejects(
  columns: readonly string[],
  delimiter: string,
  read: readonly string[],
): RejectLines {
  // The file was itself a file of rejects: its last columns are Ferry's, and its cells have been escaped before.
  const ours = columnsOfRejects(columns, read)
  const own = columns.slice(0, columns.length - ours)
  const safe = ours > 0 ? (cell: string) => cell : escapeCell
  const record = (cells: readonly string[]) => cells.map(cell => quoted(cell, delimiter)).join(delimiter)

  function cellsOf(raw: string | null): readonly string[] {
    const cells = raw === null ? [] : (parseRecord(raw, delimiter) ?? [])
    if (cells.length === columns.length) return cells.slice(0, own.length).map(safe)
    return own.map((_, n) => (n === 0 ? escapeCell(raw ?? '') : ''))
  }

  return {
    header: `${[...own.map(safe).map(quotedName), ...rejectColumnsBeside(own)].join(delimiter)}\n`,
    lineOf({ line, reason, message, request_id, raw }) {
      const added = [String(line), reason, message, request_id ?? ''].map(escapeCell)
      return `${record([...cellsOf(raw), ...added])}\n`
    },
  }
}

/** Writes them as NDJSON: the objects as they were in the file, with Ferry's keys after theirs. */
export function ndjsonOfRejects(read: readonly string[]): RejectLines {
  return {
    header: '',
    lineOf({ line, reason, message, request_id, raw }) {
      const { keys, members } = raw === null ? NONE : ownOf(raw, read)
      const values = [Number(line), reason, message, request_id]
      const added = JSON.stringify(
        Object.fromEntries(rejectColumnsBeside(keys).map((name, n) => [name, values[n]])),
      )
      return `{${members}${members === '' ? '' : ','}${added.slice(1)}\n`
    },
  }
}

/** The file's own part of a line: its keys, and what is between its braces. */
type Own = { readonly keys: readonly string[]; readonly members: string }

const NONE: Own = { keys: [], members: '' }

/** Letter for letter where it can be, so that no number loses a digit. */
function ownOf(raw: string, read: readonly string[]): Own {
  const row = parsed(raw)
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    return { keys: [], members: `"raw":${JSON.stringify(raw)}` }
  }
  const added = keysOfRejects(Object.keys(row), read)
  const own = Object.entries(row).filter(([key]) => !added.has(nameOf(key)))
  const members =
    added.size === 0
      ? raw.trim().slice(1, -1).trim()
      : stringifyLossless(Object.fromEntries(own)).slice(1, -1)
  return { keys: own.map(([key]) => key), members }
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
