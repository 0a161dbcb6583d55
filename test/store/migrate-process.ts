import { migrate } from '#src/store/migrate.ts'

/** Migrates the database given, for tests of several processes at once. */
await migrate(process.argv[2] ?? '')
