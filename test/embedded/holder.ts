import { pino } from 'pino'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'

/** A Ferry reduced to its embedded Postgres: opens it, says so in one line, and closes it when its input ends. */
const [dataDir = ''] = process.argv.slice(2)
const postgres = await openEmbeddedPostgres({ dataDir, log: pino({ level: 'silent' }) })
process.stdout.write(`${JSON.stringify(postgres)}\n`)
process.stdin.resume().on('end', () => postgres.close())
