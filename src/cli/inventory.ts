import { type Command, Option } from 'commander'
import type { Pool } from 'pg'
import type { Cell } from '#src/db/list.ts'
import type { ChangeRow } from '#src/inventory/history/changes.ts'
import type { FiringRow, InventoryFilter, InventoryRow } from '#src/inventory/history/list-inventory.ts'
import { NUMBER_FIELDS } from '#src/model/declarations.ts'
import type { Resource } from '#src/model/resource.ts'
import { expectAccount } from './accounts.ts'
import { instantArgument, labelArgument, oneFolderArgument, ruleArgument, teamArgument } from './arguments.ts'
import { columnsOfChange, jsonOfChange, nothingKnown } from './changes.ts'
import { withFerry } from './command-context.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { noteFirstReading, noteFuture, noteHistoryStart, noteNearest } from './history-note.ts'
import { printRows } from './list-command.ts'
import { addListOptions, COUNTED_TO, type ListOptions, limitOf, printList } from './listing.ts'
import { emphasised, harmless, instant, print, printJson, printTable } from './output.ts'

/*
 * `ferry rules` and `ferry servers`: a list with filters, and one row with its history.
 */

type Inventory = {
  readonly resource: Resource
  /** The word of the command. */
  readonly noun: 'rules' | 'servers'
  readonly id: string
  columns(row: InventoryRow): Readonly<Record<string, Cell>>
}

type Options = ListOptions & {
  asOf?: Date
  account?: string
  name?: string
  enabled?: true
  disabled?: true
  folder?: bigint
  firing?: true
  label?: Readonly<Record<string, string>>
  team?: bigint
}

const RULES: Inventory = {
  resource: 'alert-rules',
  noun: 'rules',
  id: 'id',
  columns: row => ({
    id: BigInt(`${row.id}`),
    name: `${row.name}`,
    folder: BigInt(`${row.folder_id}`),
    enabled: row.enabled === true,
    firing: row.triggered === true,
    'updated by': `${row.updater_name}`,
    account: row.account,
  }),
}

const SERVERS: Inventory = {
  resource: 'mcp-servers',
  noun: 'servers',
  id: 'server_id',
  columns: row => ({
    id: `${row.server_id}`,
    name: text(row.server_name),
    team: text(row.team_id),
    status: text(row.status),
    transport: text(row.transport),
    tools: Array.isArray(row.tools) ? row.tools.length : null,
    account: row.account,
  }),
}

function text(value: unknown): Cell {
  return value === null || value === undefined ? null : `${value}`
}

export function addRules(program: Command): void {
  addInventory(program, RULES, 'the alert rules, as they are now or were at an earlier time')
    .option('--folder <id>', 'only those in this folder', oneFolderArgument)
    .option('--firing', 'only those that are firing')
    .option('--label <key=value>', 'only those with this label; can be repeated', labelArgument)
}

export function addServers(program: Command): void {
  addInventory(program, SERVERS, 'the MCP servers, as they are now or were at an earlier time').option(
    '--team <id>',
    "only this team's; 0 for the account's own",
    teamArgument,
  )
}

/** The newest changes and firings; `ferry changes` prints all changes. */
const HISTORY_SHOWN = 20

/** Adds `list` and `show`. Returns `list`, for filters that only this inventory has. */
function addInventory(program: Command, inventory: Inventory, description: string): Command {
  const parent = program.command(inventory.noun).description(description)
  const list = parent
    .command('list')
    .description('the current ones by name, or with --as-of those of an earlier time')
    .option(
      '--as-of <when>',
      'as they were at that time: 2026-11-01T03:30Z, or 24h for 24 hours ago',
      instantArgument,
    )
    .option('--account <name>', 'only this account')
    .option('--name <text>', 'only those whose name contains this text, in any case')
    .addOption(new Option('--enabled', 'only those that are enabled').conflicts('disabled'))
    .option('--disabled', 'only those that are disabled')
  addListOptions(list)
    .option('--json', 'print one JSON object each')
    .action((options: Options) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        return await listRows(ferry.pool, inventory, options)
      }),
    )
  parent
    .command('show')
    .description('everything known about one, with what changed and when')
    .argument('<id>', 'its id', inventory.resource === 'alert-rules' ? ruleArgument : undefined)
    .option('--as-of <when>', 'as it was at that time', instantArgument)
    .option('--account <name>', 'only in this account (default: every account that has the id)')
    .option('--all', "with Ferry's own fields: fingerprint, flags, runs")
    .option('--json', 'print one JSON object for each account that has the id')
    .action((id: bigint | string, options: Options) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        return await showRow(ferry.pool, inventory, `${id}`, options)
      }),
    )
  return list
}

async function listRows(pool: Pool, inventory: Inventory, options: Options): Promise<ExitCode> {
  const { countInventory, listInventory } = await import('#src/inventory/history/list-inventory.ts')
  const filter: InventoryFilter = {
    asOf: options.asOf,
    account: options.account,
    name: options.name,
    enabled: options.enabled ?? (options.disabled ? false : undefined),
    folder: options.folder,
    firing: options.firing,
    labels: options.label,
    team: options.team,
  }
  const { resource, columns } = inventory
  const shown = await printList(listInventory(pool, resource, filter, limitOf(options)), options, {
    columns,
    json: documentOf,
    none: 'None found.',
    total: () => countInventory(pool, resource, filter, COUNTED_TO + 1),
  })
  if (options.asOf) {
    await noteFirstReading(pool, resource, options.asOf, options.account)
    await noteFuture(pool, options.asOf)
  }
  if (shown === 0 && options.name !== undefined) await noteNearest(pool, resource, 'names', options.name)
  if (shown === 0 && options.folder !== undefined)
    await noteNearest(pool, resource, 'folders', `${options.folder}`)
  return EXIT.done
}

async function showRow(
  pool: Pool,
  { resource, noun, id: idColumn }: Inventory,
  id: string,
  options: Options,
): Promise<ExitCode> {
  const { listFirings, loadInventory } = await import('#src/inventory/history/list-inventory.ts')
  const { listChanges } = await import('#src/inventory/history/changes.ts')
  const rows = await loadInventory(pool, resource, id, options)
  if (rows.length === 0) {
    const when = options.asOf ? ` as of ${instant(options.asOf)}` : ''
    throw nothingKnown(noun, id, when)
  }
  for (const row of rows) {
    const { account } = row
    const of = resource === 'alert-rules' ? { rule: BigInt(id) } : { server: id }
    const changes = await Array.fromAsync(
      listChanges(pool, { ...of, account, until: options.asOf }, HISTORY_SHOWN),
    )
    const firings =
      resource === 'alert-rules'
        ? await listFirings(pool, { id, account }, options.asOf, HISTORY_SHOWN)
        : null
    if (options.json) printJson({ ...documentOf(row), ...jsonOfHistory(changes, firings) })
    else {
      printDocument(row, idColumn, options)
      printHistory(changes, firings)
    }
  }
  await noteHistoryStart(pool, undefined)
  if (options.asOf) await noteFuture(pool, options.asOf)
  return EXIT.done
}

function jsonOfHistory(changes: readonly ChangeRow[], firings: readonly FiringRow[] | null): object {
  return {
    ...(firings && { triggered: firings[0] !== undefined && firings[0].ended === null }),
    changes: changes.map(jsonOfChange),
    ...(firings && { firings: firings.map(({ began, ended }) => ({ began, ended })) }),
  }
}

function printHistory(changes: readonly ChangeRow[], firings: readonly FiringRow[] | null): void {
  print(`\n${emphasised('What changed')}`)
  printRows({ columns: columnsOfChange }, changes, { none: 'No changes yet.' })
  if (!firings) return
  print(`\n${emphasised('When it fired')}`)
  printTable(
    ['began', 'ended'],
    firings.map(({ began, ended }) => [began, ended ?? 'still firing']),
    'Never seen firing.',
  )
}

/** Fields of a version that say how Ferry stored it, and little about the rule or server. */
const OF_FERRY = ['fingerprint', 'flags', 'altered', 'appeared', 'opened_by_run', 'closed_by_run']

function printDocument(row: InventoryRow, idColumn: string, { all }: Options): void {
  const shown = Object.entries(documentOf(row)).filter(([name]) => all || !OF_FERRY.includes(name))
  const gone = row.valid_to instanceof Date ? `, gone since ${instant(row.valid_to)}` : ''
  print(`${emphasised(harmless(`${row[idColumn]}`))} in account ${row.account}${gone}`)
  printTable(
    ['field', 'value'],
    shown.map(([name, value]) => [name, valueInWords(value)]),
    '',
  )
}

function valueInWords(value: unknown): Cell {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return instant(value)
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`
}

function documentOf(row: InventoryRow): Record<string, unknown> {
  const document: Record<string, unknown> = { ...row }
  for (const name of NUMBER_FIELDS) {
    const number = Number(document[name])
    if (typeof document[name] === 'string' && Number.isSafeInteger(number)) document[name] = number
  }
  return document
}
