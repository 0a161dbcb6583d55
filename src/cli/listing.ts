import { type Command, Option } from 'commander'
import type { Cell } from '#src/db/list.ts'
import { number } from '#src/model/counted.ts'
import { jsonOf } from '#src/model/json-text.ts'
import { limitArgument } from './arguments.ts'
import { printRows } from './list-command.ts'
import { print, writeLines } from './output.ts'

/*
 * Lists that may be long. People see the first rows and how many more there are. Programs get all rows, one line each, no
 * faster than they read them.
 */

/** Rows shown by default: as many as fit on a screen or two. */
export const SHOWN = 50

/** Rows of one table. A longer list is printed as several tables. */
const PART = 1_000

/** Rows are counted up to this number. */
export const COUNTED_TO = 10_000

export type ListOptions = { json?: true; all?: true; limit?: number }

export function addListOptions(command: Command): Command {
  return command
    .addOption(new Option('--all', 'show all of them').conflicts('limit'))
    .option('--limit <n>', `rows to show (default: ${SHOWN}; with --json, all)`, limitArgument)
}

/** How many rows to print; null for all. */
export function limitOf({ json, all, limit }: ListOptions): number | null {
  return limit ?? (json || all ? null : SHOWN)
}

/** Prints rows while they arrive, as JSON or as a table, and how many more there are. Returns how many were printed. */
export async function printList<Row extends object>(
  rows: AsyncIterable<Row>,
  options: ListOptions,
  { none, total, ...list }: Streamed<Row>,
): Promise<number> {
  let shown = 0
  for await (const part of inParts(rows)) {
    shown += part.length
    if (!options.json) printRows(list, part, { none })
    else if (!(await writeLines(part.map(row => jsonOf(list.json(row)))))) return shown
  }
  if (options.json) return shown
  if (shown === 0) print(none)
  const limit = limitOf(options)
  if (limit !== null && shown === limit) tellMore((await total()) - shown)
  return shown
}

type Streamed<Row extends object> = {
  columns(row: Row): Readonly<Record<string, Cell>>
  json(row: Row): object
  readonly none: string
  /** How many rows there are, counted up to `COUNTED_TO` + 1. */
  total(): Promise<number>
}

export function tellMore(more: number): void {
  if (more <= 0) return
  const many = more > COUNTED_TO - SHOWN ? `more than ${number(COUNTED_TO - SHOWN)}` : number(more)
  print(`and ${many} more (--all shows them)`)
}

async function* inParts<Row>(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let part: Row[] = []
  for await (const row of rows) {
    part.push(row)
    if (part.length < PART) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
