import type { Command } from 'commander'
import type { Pool } from 'pg'
import type { Cell } from '#src/db/list.ts'
import type { ChangeRow } from '#src/inventory/history/changes.ts'
import { COLUMNS_OF_CHANGE, jsonOfChange } from '#src/inventory/history/changes-list.ts'
import { documentOf, RULE_LIST, SERVER_LIST } from '#src/inventory/history/inventory-lists.ts'
import type { FiringRow, InventoryFilter, InventoryRow } from '#src/inventory/history/list-inventory.ts'
import { endOfMillisecond } from '#src/model/instant.ts'
import type { Resource } from '#src/model/resource.ts'
import { expectAccount } from './accounts.ts'
import { instantArgument, ruleArgument } from './arguments.ts'
import { nothingKnown } from './changes.ts'
import { withFerry } from './command-context.ts'
import { EXIT, type ExitCode } from './exit.ts'
import {
  noteFirstReading,
  noteFuture,
  noteHistoryStart,
  noteLateness,
  noteSuggested,
} from './history-note.ts'
import { printRows } from './list-command.ts'
import { addLongList } from './listing.ts'
import { emphasised, harmless, instant, print, printJson, printTable } from './output.ts'

/*
 * `ferry rules` and `ferry servers`: a list with filters, and one row with its history.
 */

/** The newest changes and firings; `ferry changes` prints all changes. */
const HISTORY_SHOWN = 20

export function addRules(program: Command): void {
  const rules = program
    .command('rules')
    .description('the alert rules, as they are now or were at an earlier time')
  addLongList(listOf(rules), RULE_LIST, {
    row: 'rule',
    none: () => 'None found.',
    columns: ['id', 'name', 'folder', 'enabled', 'firing', 'updated by', 'account'],
    note: noteOf('alert-rules'),
  })
  addShow(rules, { resource: 'alert-rules', noun: 'rules', idColumn: 'id' })
}

export function addServers(program: Command): void {
  const servers = program
    .command('servers')
    .description('the MCP servers, as they are now or were at an earlier time')
  addLongList(listOf(servers), SERVER_LIST, {
    row: 'server',
    none: () => 'None found.',
    columns: ['id', 'name', 'team', 'status', 'transport', 'tools', 'account'],
    note: noteOf('mcp-servers'),
  })
  addShow(servers, { resource: 'mcp-servers', noun: 'servers', idColumn: 'server_id' })
}

function listOf(parent: Command): Command {
  return parent
    .command('list')
    .description('the current ones by name, or with --as-of those of an earlier time')
}

function noteOf(resource: Resource) {
  return async (pool: Pool, filter: InventoryFilter, shown: number) => {
    const { asOf, account } = filter
    if (asOf) {
      await noteFirstReading(pool, resource, asOf, account)
      await noteFuture(pool, asOf)
    } else await noteLateness(pool, [resource], account)
    if (shown === 0) await noteSuggested(pool, resource, filter)
  }
}

type Inventory = {
  readonly resource: Resource
  /** The word of the command. */
  readonly noun: 'rules' | 'servers'
  readonly idColumn: string
}

type Options = { asOf?: Date; account?: string; all?: true; json?: true }

function addShow(parent: Command, inventory: Inventory): void {
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
}

async function showRow(
  pool: Pool,
  { resource, noun, idColumn }: Inventory,
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
  const until = options.asOf && endOfMillisecond(options.asOf)
  for (const row of rows) {
    const { account } = row
    const of = resource === 'alert-rules' ? { rule: BigInt(id) } : { server: id }
    const changes = await Array.fromAsync(listChanges(pool, { ...of, account, until }, HISTORY_SHOWN))
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
  printRows({ columns: COLUMNS_OF_CHANGE }, changes, { none: 'No changes yet.' })
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
