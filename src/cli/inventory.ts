import { type Command, Option } from 'commander'
import type { Pool } from 'pg'
import type { InventoryFilter, InventoryRow } from '#src/inventory/list-inventory.ts'
import { NUMBER_FIELDS } from '#src/model/contract-fields.ts'
import type { Resource } from '#src/model/resource.ts'
import { expectAccount } from './accounts.ts'
import { instantArgument, ruleArgument } from './arguments.ts'
import { cellsOfChange, jsonOfChange, nothingKnown } from './changes.ts'
import { withFerry } from './command-context.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { noteFirstReading, noteHistoryStart } from './history-note.ts'
import { addListOptions, COUNTED_TO, type ListOptions, limitOf, printList } from './listing.ts'
import { type Cell, emphasised, harmless, instant, print, printJson, printTable } from './output.ts'

/*
 * What `ferry rules` and `ferry servers` share: a list with filters, and one row with its history.
 */

export type Inventory = {
  readonly resource: Resource
  /** `rules`, `servers`: the word of the command. */
  readonly noun: string
  readonly id: string
  readonly head: readonly string[]
  cells(row: InventoryRow): readonly Cell[]
}

export type InventoryOptions = ListOptions & {
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

/** The newest changes and firings; `ferry changes` prints all changes. */
const HISTORY_SHOWN = 20

/** Declares `list` and `show`. Returns `list`, for filters that only this inventory has. */
export function addInventory(parent: Command, inventory: Inventory): Command {
  const list = parent
    .command('list')
    .description('the current ones by name, or those of an earlier time with --as-of')
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
    .action((options: InventoryOptions) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        return await listRows(ferry.pool, inventory, options)
      }),
    )
  parent
    .command('show')
    .description('everything known of one, with what changed and when')
    .argument('<id>', 'its id', inventory.resource === 'alert-rules' ? ruleArgument : undefined)
    .option('--as-of <when>', 'as it was at that time', instantArgument)
    .option('--account <name>', 'only in this account (default: every account that has the id)')
    .option('--json', 'print one JSON object for each account that has the id')
    .action((id: bigint | string, options: InventoryOptions) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        return await showRow(ferry.pool, inventory, `${id}`, options)
      }),
    )
  return list
}

async function listRows(pool: Pool, inventory: Inventory, options: InventoryOptions): Promise<ExitCode> {
  const { countInventory, listInventory } = await import('#src/inventory/list-inventory.ts')
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
  const { resource, head, cells } = inventory
  await printList(listInventory(pool, resource, filter, limitOf(options)), options, {
    head,
    cells,
    json: documentOf,
    none: 'None found.',
    total: () => countInventory(pool, resource, filter, COUNTED_TO + 1),
  })
  if (options.asOf) await noteFirstReading(pool, resource, options.asOf, options.account)
  return EXIT.done
}

async function showRow(
  pool: Pool,
  { resource, noun, id: idColumn }: Inventory,
  id: string,
  options: InventoryOptions,
): Promise<ExitCode> {
  const { listFirings, loadInventory } = await import('#src/inventory/list-inventory.ts')
  const { listChanges } = await import('#src/inventory/changes.ts')
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
    if (options.json) {
      const episodes = firings?.map(({ began, ended }) => ({ began, ended }))
      const triggered = firings && { triggered: firings[0] !== undefined && firings[0].ended === null }
      printJson({
        ...documentOf(row),
        ...triggered,
        changes: changes.map(jsonOfChange),
        ...(episodes && { firings: episodes }),
      })
      continue
    }
    printDocument(row, idColumn)
    print(`\n${emphasised('What changed')}`)
    printTable(['change', 'name', 'what', 'by', 'when'], changes.map(cellsOfChange), 'No change yet.')
    if (!firings) continue
    print(`\n${emphasised('When it fired')}`)
    printTable(
      ['began', 'ended'],
      firings.map(({ began, ended }) => [began, ended ?? 'still fires']),
      'It was never seen to fire.',
    )
  }
  await noteHistoryStart(pool, undefined)
  return EXIT.done
}

function printDocument(row: InventoryRow, idColumn: string): void {
  const document = documentOf(row)
  const gone = row.valid_to instanceof Date ? `, gone since ${instant(row.valid_to)}` : ''
  print(`${emphasised(harmless(`${row[idColumn]}`))} in account ${row.account}${gone}`)
  printTable(
    ['field', 'value'],
    Object.entries(document).map(([name, value]) => [name, valueInWords(value)]),
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
