import { type Command, Option } from 'commander'
import { DAY_MS } from '#src/model/duration.ts'
import { type ActOptions, actedBy, addActOptions } from './acted-by.ts'
import { withFerry } from './command-context.ts'
import { EXIT } from './exit.ts'
import { printJson, printTable } from './output.ts'

type Options = ActOptions & { dryRun?: true; json?: true }

export function addPrune(program: Command): void {
  const command = program
    .command('prune')
    .description('remove rows that are older than the settings FERRY_KEEP_… allow; workers do it every day')
    .addOption(new Option('--dry-run', 'only count them').conflicts(['as', 'because']))
  addActOptions(command)
    .option('--json', 'print one JSON object per table')
    .action((options: Options) =>
      withFerry('read', async (ferry, { signal }) => {
        const { countOldRows, removeOldRows } = await import('#jobs/prune.ts')
        const counts = options.dryRun
          ? await countOldRows(ferry)
          : await removeOldRows(ferry, actedBy(options), signal)
        const tables = counts.map(({ table, keepMs, rows }) => ({ table, kept: kept(keepMs), rows }))
        if (options.json) for (const one of tables) printJson({ ...one, removed: !options.dryRun })
        else {
          const head = ['table', 'kept', options.dryRun ? 'would be removed' : 'removed']
          const cells = tables.map(({ table, kept, rows }) => [table, kept, rows])
          printTable(head, cells, 'Nothing was removed.')
        }
        return EXIT.done
      }),
    )
}

function kept(ms: number | null): string {
  return ms === null ? 'forever' : `${ms / DAY_MS}d`
}
