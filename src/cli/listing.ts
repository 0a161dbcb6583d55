import { type Command, Option } from 'commander'
import type { Pool } from 'pg'
import type { Asked, Columns, Filters, Streamed } from '#src/db/list.ts'
import { number } from '#src/model/counted.ts'
import { jsonOf } from '#src/model/json-text.ts'
import { expectAccount } from './accounts.ts'
import { limitArgument } from './arguments.ts'
import { withFerry } from './command-context.ts'
import { EXIT } from './exit.ts'
import { noteFutureSince } from './history-note.ts'
import { addFilters, printRows } from './list-command.ts'
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
const COUNTED_TO = 10_000

export type ListOptions = { json?: true; all?: true; limit?: number }

/** What the command of a long list has beside it. */
type Beside<Of extends Filters> = {
  /** What one row is called. */
  readonly row: string
  /** The columns to print; absent: all. The account comes with them where there are several. */
  readonly columns?: readonly string[]
  /** Instead of the words of the list, for what was asked. */
  none?(filter: Asked<Of>): string
  /** Checks the filter, and adds what is not given. */
  prepare?(pool: Pool, filter: Asked<Of>): Promise<Asked<Of>>
  /** Prints a note beside the rows that were shown. */
  note?(pool: Pool, filter: Asked<Of>, shown: number): Promise<void>
}

/** Makes `command` print a long list: an option for each filter, a table, and JSON. */
export function addLongList<Row extends object, Of extends Filters>(
  command: Command,
  list: Streamed<Row, Asked<Of>> & { readonly filters: Of },
  { row, columns, none, prepare, note }: Beside<Of>,
): void {
  const filterFrom = addFilters(command, list.filters)
  addListOptions(command)
    .option('--json', `print one JSON object per ${row}`)
    .action((given: ListOptions & Readonly<Record<string, unknown>>) =>
      withFerry('read', async ferry => {
        const { pool } = ferry
        if (typeof given.account === 'string') await expectAccount(ferry, given.account)
        const asked = filterFrom(given)
        const filter = (await prepare?.(pool, asked)) ?? asked
        const names = columns && !given.json ? await withAccount(pool, columns) : columns
        const printed = { ...list, none: none?.(asked) ?? list.none, ...(names && picked(list, names)) }
        const shown = await printList(pool, printed, filter, given)
        if (given.since instanceof Date) await noteFutureSince(pool, given.since)
        await note?.(pool, filter, shown)
        return EXIT.done
      }),
    )
}

async function withAccount(pool: Pool, columns: readonly string[]): Promise<readonly string[]> {
  if (columns.includes('account')) return columns
  const { hasSeveralAccounts } = await import('#src/inventory/known-accounts.ts')
  return (await hasSeveralAccounts(pool)) ? [...columns, 'account'] : columns
}

function picked<Row>({ columns }: { readonly columns: Columns<Row, string> }, names: readonly string[]) {
  return { columns: Object.fromEntries(Object.entries(columns).filter(([name]) => names.includes(name))) }
}

export function addListOptions(command: Command): Command {
  return command
    .addOption(new Option('--all', 'show all of them').conflicts('limit'))
    .option('--limit <n>', `rows to show (default: ${SHOWN}; with --json, all)`, limitArgument)
}

/** Prints rows while they arrive, as JSON or as a table, and how many more there are. Returns how many were printed. */
export async function printList<Row extends object, Asked>(
  pool: Pool,
  list: Streamed<Row, Asked>,
  asked: Asked,
  { json, all, limit = json || all ? undefined : SHOWN }: ListOptions,
): Promise<number> {
  const { none } = list
  let shown = 0
  for await (const part of inParts(list.stream(pool, asked, limit ?? null))) {
    shown += part.length
    if (!json) printRows(list, part, { none })
    else if (!(await writeLines(part.map(row => jsonOf(list.json(row)))))) return shown
  }
  if (json) return shown
  if (shown === 0) print(none)
  if (shown === limit) tellMore((await list.count(pool, asked, shown + COUNTED_TO + 1)) - shown)
  return shown
}

export function tellMore(more: number): void {
  if (more <= 0) return
  const many = more > COUNTED_TO ? `more than ${number(COUNTED_TO)}` : number(more)
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
