import type { Command } from 'commander'
import { withFerry } from './command-context.ts'
import { EXIT } from './exit.ts'
import { counted, print, printJson } from './output.ts'

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('update the database to this version; any number of machines may run it at once')
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) =>
      withFerry('update', async ferry => {
        const { migrateQueue } = await import('#src/queue/backend.ts')
        await migrateQueue(ferry.backend)
        const { migrated } = ferry
        if (options.json) printJson({ migrations: migrated })
        else print(migrated === 0 ? 'The database is up to date.' : `${counted(migrated, 'migration')} ran.`)
        return EXIT.done
      }),
    )
}
