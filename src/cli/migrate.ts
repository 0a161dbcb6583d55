import type { Command } from 'commander'
import { counted } from '#src/model/counted.ts'
import { withFerry } from './command-context.ts'
import { EXIT } from './exit.ts'
import { print, printAside, printJson } from './output.ts'

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'update the database to this version, and create the read-only role; safe to run on several machines at once',
    )
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) =>
      withFerry('update', async ferry => {
        const { migrateQueue } = await import('#src/queue/backend.ts')
        await migrateQueue(ferry.backend)
        const { prepareReader } = await import('#src/reports/reader-role.ts')
        const reader = await prepareReader(ferry.pool)
        const { migrated } = ferry
        if (options.json) {
          printJson({
            migrations: migrated,
            reader: reader.status,
            ...(reader.status === 'refused' && { readerSql: reader.statements }),
          })
          return EXIT.done
        }
        print(migrated === 0 ? 'The database is up to date.' : `${counted(migrated, 'migration')} ran.`)
        if (reader.status === 'refused') {
          printAside(
            'ferry: this role cannot create the read-only role (ferry_reader), or cannot grant its rights. If you ' +
              'want it, run this as a superuser, or as a role that owns the tables and can create roles:',
          )
          for (const statement of reader.statements) print(`${statement};`)
        }
        return EXIT.done
      }),
    )
}
