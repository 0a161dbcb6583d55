import { type Command, Option } from 'commander'
import { RESOURCES } from '#src/model/resource.ts'
import { RUN_STATUSES } from '#src/model/run.ts'
import { expectAccount } from './accounts.ts'
import { type ActOptions, addActOptions } from './acted-by.ts'
import { idArgument, instantArgument, limitArgument } from './arguments.ts'
import { withAccounts, withFerry } from './command-context.ts'
import type { RunListOptions } from './runs/list.ts'

type Options = ActOptions & { json?: true; all?: true }

export function addRuns(program: Command): void {
  const runs = program.command('runs').description('what was synced, and how each run ended')
  runs
    .command('list')
    .description('the newest runs first')
    .option('--account <name>', 'only this account')
    .addOption(new Option('--inventory <name>', 'only this inventory').choices(RESOURCES))
    .addOption(new Option('--status <status>', 'only runs with this status').choices(RUN_STATUSES))
    .option('--since <when>', 'only runs that started since: 24h, 7d or 2026-11-01', instantArgument)
    .option('--limit <n>', 'how many', limitArgument, 20)
    .option('--json', 'print one JSON object per run')
    .action((options: RunListOptions) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        return await (await import('./runs/list.ts')).listRuns(ferry.pool, options)
      }),
    )
  runs
    .command('show')
    .description('one run: its counts, calls, quarantined rows and held removals')
    .argument('<id>', 'the number of the run', idArgument)
    .option('--all', 'show every row whose removal it holds')
    .option('--json', 'print one JSON object')
    .action((id: bigint, options: Options) =>
      withFerry('read', async ({ pool }) => (await import('./runs/show.ts')).showRun(pool, id, options)),
    )
  addActOptions(
    runs
      .command('approve')
      .description('remove what a held run would have removed, if it is still gone')
      .argument('<id>', 'the number of the held run', idArgument),
  )
    .option('--json', 'print one JSON object: the run that this starts')
    .action((id: bigint, options: Options) =>
      withAccounts('read', async (ferry, { signal }) =>
        (await import('./runs/approve.ts')).approve(ferry, id, options, signal),
      ),
    )
  addActOptions(
    runs
      .command('reject')
      .description('state that what a held run would have removed is not gone: it is kept')
      .argument('<id>', 'the number of the held run', idArgument),
  )
    .option('--json', 'print one JSON object')
    .action((id: bigint, options: Options) =>
      withFerry('read', async ({ pool }) => (await import('./runs/reject.ts')).reject(pool, id, options)),
    )
}
