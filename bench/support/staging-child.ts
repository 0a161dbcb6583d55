import { createReadStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { pino } from 'pino'
import { openDatabase } from '#src/db/pool.ts'
import { stageImport } from '#src/imports/staging/stage.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { NEVER, OPTIONS } from '#test/imports/options.ts'

/* Run by `import-staging.ts` as a process: reads one file into one database, and says how long it took and how large it grew. */

export type Staging = {
  /** `floor` does the least that could be done. */
  readonly how: 'stage' | 'floor'
  readonly file: string
  readonly databaseUrl: string
  readonly rows: number
}

const CHUNK = 1 << 16

process.on('disconnect', () => process.exit())
const task = JSON.parse(process.argv[2] ?? '{}') as Staging
const startedAtMs = performance.now()
const rows = await (task.how === 'stage' ? stage(task) : copyPlainly(task))
if (rows !== task.rows) throw new Error(`${rows} of ${task.rows} rows were stored`)
const ms = performance.now() - startedAtMs
process.send?.({ ms, residentMb: process.resourceUsage().maxRSS / 1024 })

async function stage({ databaseUrl, file }: Staging): Promise<number> {
  await using database = openDatabase(databaseUrl, pino({ level: 'silent' }))
  const options = {
    ...OPTIONS,
    pageId: SANDBOX_PAGE_ID,
    map: { recipient: 'email' },
    defaultLocale: null,
    all: false,
  }
  const staged = await stageImport(database, file, options, { signal: NEVER })
  return staged.summary.pending
}

async function copyPlainly({ databaseUrl, file }: Staging): Promise<number> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('create table floor (email text, "all" text, component_ids text, locale text)')
  const copy = client.query(copyFrom('copy floor from stdin'))
  await pipeline(createReadStream(file), parse({ from_line: 2 }), linesInChunks(), copy)
  await client.end()
  return copy.rowCount
}

function linesInChunks(): Transform {
  let text = ''
  return new Transform({
    writableObjectMode: true,
    transform(record: string[], _encoding, done) {
      text += `${record.join('\t')}\n`
      if (text.length < CHUNK) return done()
      done(null, text)
      text = ''
    },
    flush: done => done(null, text),
  })
}
