import { migrate } from '#src/db/migrate.ts'

/** Migrates the database given, for tests of several processes at once. */
await migrate(process.argv[2] ?? '')
