import type { Command } from 'commander'
import { EXIT } from './exit.ts'
import { counted, print, printJson } from './output.ts'
import { withFerry } from './session.ts'

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the database up to this version; safe from any number of machines at once')
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
