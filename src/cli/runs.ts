import type { Command } from 'commander'
import { RUN_LIST } from '#src/inventory/runs/runs-list.ts'
import { type ActOptions, addActOptions } from './acted-by.ts'
import { idArgument } from './arguments.ts'
import { withAccounts, withFerry } from './command-context.ts'
import { addList } from './list-command.ts'

type Options = ActOptions & { json?: true; all?: true }

export function addRuns(program: Command): void {
  const runs = program.command('runs').description('what was synced, and how each run ended')
  addList(runs, 'list', 'every run, newest first', RUN_LIST, {
    row: 'run',
    narrow: ['run', 'account', 'inventory', 'status', 'started', 'seen', 'removed'],
    load: async (pool, { inventory: resource, ...filter }, limit) =>
      (await import('#src/inventory/runs/list-runs.ts')).listRuns(pool, limit, { ...filter, resource }),
  })
  runs
    .command('show')
    .description('one run: its counts, calls, quarantined rows and held removals')
    .argument('<id>', 'the number of the run', idArgument)
    .option('--all', 'show every row whose removal it holds')
    .option('--json', 'print one JSON object')
    .action((id: bigint, options: Options) =>
      withFerry('read', async ferry => (await import('./runs/show.ts')).showRun(ferry, id, options)),
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
        (await import('./runs/decide.ts')).approve(ferry, id, options, signal),
      ),
    )
  addActOptions(
    runs
      .command('reject')
      .description('keep what a held run would have removed: it is not gone')
      .argument('<id>', 'the number of the held run', idArgument),
  )
    .option('--json', 'print one JSON object')
    .action((id: bigint, options: Options) =>
      withFerry('read', async ({ pool }) => (await import('./runs/decide.ts')).reject(pool, id, options)),
    )
}
