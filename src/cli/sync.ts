import { Argument, type Command, Option } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import { firstReadInWords } from '#src/inventory/history/changes-list.ts'
import { differencesOf } from '#src/inventory/history/differences.ts'
import type { SyncPreview } from '#src/inventory/publish/preview.ts'
import { number } from '#src/model/counted.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { RUN_COUNTS } from '#src/model/run.ts'
import { accountsOf } from './accounts.ts'
import { type ActOptions, actedBy, addActOptions } from './acted-by.ts'
import { folderArgument } from './arguments.ts'
import { type CommandContext, withAccounts } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { tellMore } from './listing.ts'
import { emphasised, harmless, print, printAside, printJson, printTable } from './output.ts'
import { exitCodeOf, explainRun, isRefusal, printJsonRun, printRuns } from './run-result.ts'

type SyncOptions = ActOptions & {
  account?: string
  folder?: readonly bigint[]
  plan?: true
  all?: true
  acceptRemovals?: true
  json?: true
}

export function addSync(program: Command): void {
  const command = program
    .command('sync')
    .description('sync an inventory into Postgres now')
    .addArgument(new Argument('<inventory>', 'what to sync').choices([...RESOURCES, 'all']))
    .option('--account <name>', 'only this account (default: every account)')
    .option('--folder <id>', 'only this folder of alert rules; can be repeated', folderArgument)
    .addOption(
      new Option(
        '--plan',
        'print what would change, but store nothing of the inventory; creates missing tables',
      ).conflicts(['acceptRemovals', 'as', 'because']),
    )
    .option('--all', 'with --plan: print everything that would change, not only the first of each kind')
    .option('--accept-removals', 'remove the rows that are gone, however many there are')
  addActOptions(command)
    .option('--json', 'print one JSON object per inventory')
    .action((inventory: Resource | 'all', options: SyncOptions) =>
      withAccounts('create', (ferry, context) => {
        if (inventory === 'mcp-servers' && options.folder) {
          throw new UsageError('MCP servers have no folders; leave out --folder')
        }
        if (options.all && !options.plan)
          throw new UsageError('--all is for --plan; add it, or leave out --all')
        const resources = inventory === 'all' ? RESOURCES : [inventory]
        return options.plan
          ? preview(ferry, resources, options, context)
          : sync(ferry, resources, options, context)
      }),
    )
}

/** `--folder` narrows alert rules only: MCP servers have no folders. */
function requestOf(account: string, resource: Resource, { folder, acceptRemovals }: SyncOptions) {
  return {
    account,
    resource,
    trigger: 'manual' as const,
    ...(folder && resource === 'alert-rules' ? { folders: folder } : {}),
    ...(acceptRemovals ? { acceptRemovals } : {}),
  }
}

async function sync(
  ferry: Ferry,
  resources: readonly Resource[],
  options: SyncOptions,
  { config, signal }: CommandContext,
): Promise<ExitCode> {
  const { syncInventory } = await import('#src/inventory/sync.ts')
  const by = actedBy(options)
  const results = []
  for (const account of accountsOf(config, options.account)) {
    for (const resource of resources) {
      if (signal.aborted) break
      const result = await syncInventory(ferry, { ...requestOf(account.name, resource, options), by }, signal)
      if (options.json) printJsonRun(result)
      results.push(result)
    }
  }
  if (!options.json) printRuns(results)
  results.forEach(explainRun)
  return gravest(await Promise.all(results.map(result => exitCodeOf(ferry.pool, result))))
}

async function preview(
  ferry: Ferry,
  resources: readonly Resource[],
  options: SyncOptions,
  { config, signal }: CommandContext,
): Promise<ExitCode> {
  const { previewSync } = await import('#src/inventory/publish/preview.ts')
  const wanted = options.json || options.all ? { samples: Number.POSITIVE_INFINITY } : {}
  const codes: ExitCode[] = []
  for (const account of accountsOf(config, options.account)) {
    for (const resource of resources) {
      if (signal.aborted) break
      const found = await previewSync(
        ferry,
        { ...requestOf(account.name, resource, options), ...wanted },
        signal,
      )
      if ('samples' in found) {
        if (options.json) printJson(found)
        else printPreview(found)
        continue
      }
      const request = found.requestId === null ? '' : ` request_id ${found.requestId}`
      const what = `account ${account.name}, ${resource}: ${found.code}`
      printAside(harmless(`ferry: ${what}. ${found.message} ${found.whatToDo}${request}`))
      codes.push(isRefusal(found.code, found.httpStatus) ? EXIT.refused : EXIT.failed)
    }
  }
  return gravest(codes)
}

const SIGN = { added: '+', changed: '~', removed: '-' } as const

function printPreview(found: SyncPreview): void {
  const counts = RUN_COUNTS.map(name => `${number(found[name])} ${name}`).join(', ')
  print(`${emphasised(`${found.account} ${found.resource}`)}: ${counts}. Nothing was written.`)
  if (found.note !== null) print(`  ${harmless(found.note)}`)
  if (found.firstRead > 0) {
    const what = firstReadInWords(found.resource, found.account, found.firstRead)
    print(`  ${harmless(`first reading: ${what}`)}, which were there before the first sync`)
  }
  // A first reading is one entry, whatever it finds.
  const samples = found.samples.filter(({ firstReading }) => !firstReading)
  const rows = samples.map(({ id, change, name, folder, by, fields }) => {
    const side = (of: 'before' | 'after') =>
      Object.fromEntries(Object.entries(fields).map(([field, values]) => [field, values[of]]))
    const what = change === 'changed' ? differencesOf(side('before'), side('after')) : ''
    return [SIGN[change], id, name, folder, what, by]
  })
  if (rows.length > 0) printTable(['', 'id', 'name', 'folder', 'what', 'by'], rows, '')
  tellMore(found.added - found.firstRead + found.changed + found.removed - rows.length)
}
