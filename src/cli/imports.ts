import { type Command, Option } from 'commander'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import type { ImportFilter } from '#src/store/imports/progress.ts'
import { countArgument, idArgument, instantArgument } from './arguments.ts'
import { expectAccount, withAccounts, withFerry, withKnownAccounts } from './session.ts'

type Options = { json?: true }

export function addImports(program: Command): void {
  const imports = program.command('imports').description('what was imported, and what came of it')
  addReading(imports)
  addWatching(imports)
  addDeciding(imports)
}

function addReading(imports: Command): void {
  imports
    .command('list')
    .description('the newest imports first')
    .option('--account <name>', 'only this account')
    .addOption(new Option('--status <status>', 'only those that stand so').choices(IMPORT_STATUSES))
    .option('--since <when>', 'only those read since: 24h, 7d or 2026-11-01', instantArgument)
    .option('--limit <n>', 'how many', countArgument, 20)
    .option('--json', 'print one JSON object per import')
    .action((options: Options & ImportFilter & { limit: number }) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        return await (await import('./imports/list.ts')).listImports(ferry.pool, options)
      }),
    )
  of(
    imports,
    'show',
    'one import, counted anew from its rows: its sum, batches and rejects; exits 1 if the sum is wrong',
  )
    .option('--json', 'print JSON objects: first the summary, then its batches and reasons')
    .action((id: bigint, options: Options) =>
      withFerry('read', async ({ pool }) =>
        (await import('./imports/show.ts')).showImport(pool, id, options),
      ),
    )
  of(
    imports,
    'recipients',
    'what became of every row: when it was sent, in which call and with which request_id, or why not',
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
    'the rejected rows, as they were in the file and with the reason: corrected, they can be imported',
  )
    .option('--out <file>', 'write them there instead of on stdout; never over a file that exists')
    .option('--json', 'print one JSON object: how many were written, and where (only with --out)')
    .action((id: bigint, options: Options & { out?: string }) =>
      withFerry('read', async ({ pool }) =>
        (await import('./imports/rejects.ts')).writeRejectsOf(pool, id, options),
      ),
    )
}

function addWatching(imports: Command): void {
  of(imports, 'watch', 'show how it goes on, until it ends; Ctrl-C only ends the watching')
    .option('--json', 'print JSON objects; the last one is the summary')
    .action((id: bigint, options: Options) =>
      withKnownAccounts('read', async (ferry, session) =>
        (await import('./import/confirmed.ts')).watchToTheEnd(ferry, id, options, session),
      ),
    )
  of(imports, 'resume', 'go on with a paused import')
    .option('--wait', 'do the work in this process, to its end')
    .option('--json', 'print JSON objects; the last one is the summary')
    .action((id: bigint, options: Options & { wait?: true }) =>
      (options.wait ? withAccounts : withFerry)('read', async (ferry, session) =>
        (await import('./imports/resume.ts')).resume(ferry, id, options, session),
      ),
    )
}

function addDeciding(imports: Command): void {
  of(imports, 'pause', 'stop after the calls in flight')
    .option('--json', 'print one JSON object: the summary')
    .action((id: bigint, options: Options) =>
      withFerry('read', async ({ pool }) => (await import('./imports/pause.ts')).pause(pool, id, options)),
    )
  of(imports, 'cancel', 'end it for good after the calls in flight')
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON object: the summary')
    .action((id: bigint, options: Options & { yes?: true }) =>
      withFerry('read', async ({ pool }, { signal }) =>
        (await import('./imports/end.ts')).cancel(pool, id, options, signal),
      ),
    )
  of(imports, 'purge', 'remove the recipients of an import that is over; numbers and hashes stay')
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON object')
    .action((id: bigint, options: Options & { yes?: true }) =>
      withFerry('read', async ({ pool }, { signal }) =>
        (await import('./imports/end.ts')).purge(pool, id, options, signal),
      ),
    )
  of(imports, 'resolve', 'say what became of batches of which nobody knows whether they arrived')
    .addOption(
      new Option('--as <what>', 'sent: the platform has them; resend: send them again')
        .choices(['sent', 'resend'])
        .makeOptionMandatory(),
    )
    .option('--batch <n>', 'only this batch (default: every uncertain one)', idArgument)
    .option('--json', 'print one JSON object: the summary')
    .action((id: bigint, options: Options & { as: 'sent' | 'resend'; batch?: bigint }) =>
      withFerry('read', async ferry => (await import('./imports/resolve.ts')).resolve(ferry, id, options)),
    )
}

function of(imports: Command, name: string, description: string): Command {
  return imports
    .command(name)
    .description(description)
    .argument('<id>', 'the number of the import', idArgument)
}
