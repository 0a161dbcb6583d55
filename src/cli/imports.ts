import { type Command, Option } from 'commander'
import { IMPORT_LIST } from '#src/imports/reporting/imports-list.ts'
import { type ActOptions, addActOptions } from './acted-by.ts'
import { idArgument, pathArgument } from './arguments.ts'
import { withAccounts, withFerry, withKnownAccounts } from './command-context.ts'
import type { ResolveOptions } from './imports/decide.ts'
import { addList } from './list-command.ts'

type Options = { json?: true }
type Deciding = Options & ActOptions

export function addImports(program: Command): void {
  const imports = program.command('imports').description('imports and their results')
  addReading(imports)
  addWatching(imports)
  addDeciding(imports)
}

function addReading(imports: Command): void {
  addList(imports, 'list', 'every import, newest first', IMPORT_LIST, {
    row: 'import',
    narrow: ['import', 'page', 'status', 'read', 'sent', 'rejected', 'uncertain', 'pending'],
    note: async rows => (await import('./imports/show.ts')).noteWaiting(rows),
  })
  of(
    imports,
    'show',
    'one import, recounted from its rows: counts, batches and reasons; exits 1 if the counts do not add up',
  )
    .option('--json', 'print JSON objects: first the summary, then its batches and reasons')
    .action((id: bigint, options: Options) =>
      withKnownAccounts('read', async ferry =>
        (await import('./imports/show.ts')).showImport(ferry, id, options),
      ),
    )
  of(
    imports,
    'recipients',
    'what happened to every row: when it was sent, in which call and with which request_id, or why not',
  )
    .argument('[address]', 'only this recipient')
    .option('--json', 'print one JSON object per row')
    .action((id: bigint, address: string | undefined, options: Options) =>
      withFerry('read', async ({ pool }) =>
        (await import('./imports/recipients.ts')).showRecipients(pool, id, address, options),
      ),
    )
  of(
    imports,
    'rejects',
    'the rejected rows as they were in the file, with the reason: correct them and import them',
  )
    .option(
      '--out <file>',
      'write them to this file instead of stdout; an existing file is never replaced',
      pathArgument,
    )
    .option('--json', 'print one JSON object: how many were written, and where (needs --out)')
    .action((id: bigint, options: Options & { out?: string }) =>
      withFerry('read', async ({ pool }) =>
        (await import('./imports/rejects.ts')).writeRejectsOf(pool, id, options),
      ),
    )
}

function addWatching(imports: Command): void {
  of(imports, 'watch', 'show the progress of an import until it ends; Ctrl-C ends only the watching')
    .option('--json', 'print JSON objects; the last one is the summary')
    .action((id: bigint, options: Options) =>
      withKnownAccounts('read', async (ferry, context) =>
        (await import('./import/confirmed.ts')).watchToTheEnd(ferry, id, options, context),
      ),
    )
  addActOptions(of(imports, 'resume', 'continue a paused import'))
    .option('--wait', 'process the import in this process until it ends')
    .option('--json', 'print JSON objects; the last one is the summary')
    .action((id: bigint, options: Deciding & { wait?: true }) =>
      (options.wait ? withAccounts : withFerry)('read', async (ferry, context) =>
        (await import('./imports/decide.ts')).resume(ferry, id, options, context),
      ),
    )
}

function addDeciding(imports: Command): void {
  addActOptions(of(imports, 'pause', 'stop an import after the calls in flight'))
    .option('--json', 'print one JSON object: the summary')
    .action((id: bigint, options: Deciding) =>
      withFerry('read', async ({ pool }) => (await import('./imports/decide.ts')).pause(pool, id, options)),
    )
  addActOptions(of(imports, 'cancel', 'end an import for good, after the calls in flight'))
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON object: the summary')
    .action((id: bigint, options: Deciding & { yes?: true }) =>
      withFerry('read', async ({ pool }, { signal }) =>
        (await import('./imports/decide.ts')).cancel(pool, id, options, signal),
      ),
    )
  addActOptions(
    of(imports, 'purge', 'remove the recipients of an import that has ended; counts and hashes stay'),
  )
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON object')
    .action((id: bigint, options: Deciding & { yes?: true }) =>
      withFerry('read', async ({ pool }, { signal }) =>
        (await import('./imports/decide.ts')).purge(pool, id, options, signal),
      ),
    )
  // Here `--as` is the outcome of the batches.
  addActOptions(of(imports, 'resolve', 'decide about batches whose outcome is unknown'), '--by')
    .addOption(
      new Option('--as <what>', 'sent: the platform has them; resend: send them again')
        .choices(['sent', 'resend'])
        .makeOptionMandatory(),
    )
    .option('--batch <n>', 'only this batch (default: every uncertain one)', idArgument)
    .option('--json', 'print one JSON object: the summary')
    .action((id: bigint, options: ResolveOptions) =>
      withFerry('read', async ferry => (await import('./imports/decide.ts')).resolve(ferry, id, options)),
    )
}

function of(imports: Command, name: string, description: string): Command {
  return imports
    .command(name)
    .description(description)
    .argument('<id>', 'the number of the import', idArgument)
}
