import type { Command } from 'commander'
import { counted } from '#src/model/counted.ts'
import { pathArgument } from './arguments.ts'
import { runOneShot } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT } from './exit.ts'
import { harmless, print, printJson } from './output.ts'

type Options = { json?: true; oldPrograms?: string }

export function addEmbedded(program: Command): void {
  const embedded = program.command('embedded').description('the Postgres that Ferry brings along')
  embedded
    .command('upgrade')
    .description(
      'move its data to the major version of Postgres that this Ferry brings along; the old files are kept',
    )
    .option(
      '--old-programs <dir>',
      'where the programs of the old version are, pg_dump among them',
      pathArgument,
    )
    .option('--json', 'print one JSON object')
    .action((options: Options) =>
      runOneShot(async ({ config, log }) => {
        if (config.databaseUrl !== null)
          throw new UsageError('DATABASE_URL is set, so Ferry uses that Postgres and not the embedded one.')
        const { upgradeEmbedded } = await import('#src/embedded/upgrade.ts')
        const upgraded = await upgradeEmbedded({
          dataDir: config.dataDir,
          oldPrograms: options.oldPrograms,
          log,
        })
        if (options.json) printJson(upgraded ?? { from: null, to: null, rows: null, kept: null })
        else if (upgraded === null)
          print('Its data is of the version that this Ferry brings along: nothing to do.')
        else {
          const { from, to, rows, kept } = upgraded
          print(`Moved ${counted(rows, 'row')} from Postgres ${from} to Postgres ${to}.`)
          print(harmless(`The old files are in ${kept}. Remove them once you have seen that all is well.`))
        }
        return EXIT.done
      }),
    )
}
