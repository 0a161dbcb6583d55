import { pino } from 'pino'
import { openDatabase } from '#src/db/pool.ts'
import { stageImport } from '#src/imports/staging/stage.ts'
import { NEVER, OPTIONS } from '../options.ts'

/* Stages its stdin into the database whose URL it is given, and prints what came of it. */

await using database = openDatabase(process.argv[2] ?? '', pino({ level: 'silent' }))
let last = {}
const staged = await stageImport(database, '-', OPTIONS, {
  signal: NEVER,
  onProgress: ({ bytes, totalBytes }) => {
    last = { bytes, totalBytes }
  },
})
const { rows } = await database.pool.query('select file from ferry.imports where id = $1', [staged.import])
process.stdout.write(JSON.stringify({ pending: staged.summary.pending, file: rows[0]?.file, ...last }))
