import { type Command, Option } from 'commander'
import type { Pool } from 'pg'
import {
  type Asked,
  type Cell,
  type Columns,
  cellsOf,
  type Filter,
  type Filters,
  isNarrowedBy,
  type List,
  type Order,
} from '#src/db/list.ts'
import { expectAccount } from './accounts.ts'
import { instantArgument, labelArgument, limitArgument, uint64, wordsArgument } from './arguments.ts'
import { withFerry } from './command-context.ts'
import { EXIT } from './exit.ts'
import { noteFutureSince } from './history-note.ts'
import { cellText, fits, print, printAside, printJson, printTable } from './output.ts'

/** What a command has beside its list. */
export type Beside<Row, Of extends Filters, Name extends string> = {
  /** What one row is called. */
  readonly row: string
  /** The columns that usually fit into 80 characters; absent: a table that is too wide is wrapped. */
  readonly narrow?: readonly Name[]
  /** Reads more of each row than the list does, for programs. */
  load?(pool: Pool, filter: Asked<Of>, limit: number): Promise<readonly Row[]>
  /** Prints a note for people beside the rows. */
  note?(rows: readonly Row[], pool: Pool): Promise<void>
}

/** Adds the command `name` that prints a list: an option for each filter, a table, and JSON. */
export function addList<Row extends object, Of extends Filters, By extends Order, Name extends string, More>(
  parent: Command,
  name: string,
  description: string,
  list: List<Row, Of, By, Name, More>,
  { row, narrow, load, note }: Beside<Row, Of, Name>,
): void {
  const command = parent.command(name).description(description)
  const filterFrom = addFilters(command, list.filters)
  command
    .option('--limit <n>', 'rows to show', limitArgument, 20)
    .option('--json', `print one JSON object per ${row}`)
    .action((given: Given) =>
      withFerry('read', async ferry => {
        if (typeof given.account === 'string') await expectAccount(ferry, given.account)
        const filter = filterFrom(given)
        const { limit, json } = given
        const rows = load
          ? await load(ferry.pool, filter, limit)
          : (await list.load(ferry.pool, { filter, after: null, limit })).rows
        printRows(list, rows, {
          json,
          none: (isNarrowedBy(filter) && list.noneMatches) || list.none,
          narrow: narrow && { row, names: narrow },
        })
        if (given.since instanceof Date) await noteFutureSince(ferry.pool, given.since)
        if (!json) await note?.(rows, ferry.pool)
        return EXIT.done
      }),
    )
}

type Given = Readonly<Record<string, unknown>> & { readonly limit: number; readonly json?: true }

/** Adds the options of the filters. Returns what reads the filter from the options that were given. */
export function addFilters<Of extends Filters>(
  command: Command,
  filters: Of,
): (given: Readonly<Record<string, unknown>>) => Asked<Of> {
  const read = Object.entries(filters).flatMap(([filter, declared]) => {
    const option = optionOf(declared)
    if (!option) return []
    command.addOption(option)
    const given = option.attributeName()
    const opposite = declared.kind === 'flag' && declared.opposite ? new Option(...declared.opposite) : null
    if (!opposite) return [[filter, (all: Readonly<Record<string, unknown>>) => all[given]] as const]
    command.addOption(opposite.conflicts(given))
    const not = opposite.attributeName()
    return [
      [
        filter,
        (all: Readonly<Record<string, unknown>>) => all[given] ?? (all[not] ? false : undefined),
      ] as const,
    ]
  })
  return given => Object.fromEntries(read.map(([filter, valueIn]) => [filter, valueIn(given)])) as Asked<Of>
}

function optionOf(filter: Filter): Option | null {
  if (!filter.option) return null
  const option = new Option(...filter.option)
  switch (filter.kind) {
    case 'choice':
      return option.choices(filter.values)
    case 'instant':
      return option.argParser(instantArgument)
    case 'id':
      return option.argParser((text: string) => uint64(text, `the id of ${filter.of}`))
    case 'labels':
      return option.argParser(labelArgument)
    case 'text':
      return option.argParser(wordsArgument)
    default:
      return option
  }
}

type Printed<Row, Name extends string> = {
  readonly columns: Columns<Row, Name>
  json?(row: Row): object
}

/** Prints rows as JSON, or as a table: with the columns `narrow` if it is too wide, and `none` if it has no rows. */
export function printRows<Row extends object, Name extends string>(
  { columns, json: jsonOf = row => row }: Printed<Row, Name>,
  rows: readonly Row[],
  {
    json,
    none,
    narrow,
  }: {
    readonly json?: true | undefined
    readonly none: string
    readonly narrow?: { readonly row: string; readonly names: readonly Name[] } | undefined
  },
): void {
  if (json) {
    for (const row of rows) printJson(jsonOf(row))
    return
  }
  const cells = rows.map(row => cellsOf(columns, row))
  const head = Object.keys(columns) as Name[]
  const of = (names: readonly Name[]) => cells.map(row => names.map(name => row[name]))
  const names = narrow && !fits(head, of(head)) ? narrow.names : head
  printTable(names, of(names), none)
  if (names !== head) printAside(`ferry: a wider terminal or --json shows more of each ${narrow?.row}`)
}

/** Prints the cells of one thing in one row, or in one column if the row is too wide. */
export function printOne(cells: Readonly<Record<string, Cell>>): void {
  const head = Object.keys(cells)
  const row = Object.values(cells)
  if (fits(head, [row])) {
    printTable(head, [row], '')
    return
  }
  const width = Math.max(...head.map(name => name.length))
  for (const [name, cell] of Object.entries(cells)) {
    print(`${name.padEnd(width)}  ${cellText(cell)}`.trimEnd())
  }
}
