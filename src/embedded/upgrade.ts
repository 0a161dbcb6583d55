import { chown, copyFile, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { knowCopy } from '#src/db/known-database.ts'
import { findColumn, findValue, Int8 } from '#src/db/rows.ts'
import { type Binaries, binariesIn, findBinaries } from './binaries.ts'
import { ensureCluster, filesIn, loadPassword, SUPERUSER } from './cluster.ts'
import { type Login, urlOf } from './connection.ts'
import { NoPostgresYet, PostgresNotRunning } from './errors.ts'
import { withDirectoryLock } from './lock.ts'
import { majorOf } from './major.ts'
import { DATABASE, ensureOwner, OWNER } from './owner.ts'
import { choosePlacement, isPostgresIn, makeDataDir, newHomeOf, type Placement } from './placement.ts'
import { run } from './run-as.ts'
import { findPostmaster, startServer, stopServer } from './server.ts'

/*
 * Moves the data of an embedded Postgres to the major version that Ferry brings along:
 *
 *   old programs on the old files ─► pg_dump ─► pg_restore ─► new programs on new files ─► count every row, know it as the same database ─► exchange the directories
 *
 * The old files stay, under another name. Until the last step nothing but them is Ferry's database: what goes wrong before leaves
 * everything as it was.
 */

const LOCK_WITHIN_MS = 5_000
const STOP_WITHIN_MS = 60_000

/** Where systems install several versions of Postgres side by side. */
const USUAL_PLACES = (major: number) => [
  `/usr/lib/postgresql/${major}/bin`,
  `/usr/pgsql-${major}/bin`,
  `/opt/homebrew/opt/postgresql@${major}/bin`,
  `/usr/local/opt/postgresql@${major}/bin`,
]

export type Upgraded = {
  readonly from: number
  readonly to: number
  readonly rows: number
  /** Where the old files are now. */
  readonly kept: string
}

/** Returns null if the files are of Ferry's version already. Throws `NoPostgresYet`, `PostgresNotRunning` and others. */
export async function upgradeEmbedded(options: {
  readonly dataDir: string
  /** Where the programs of the old version are; by default where systems install them. */
  readonly oldPrograms: string | undefined
  readonly log: Logger
}): Promise<Upgraded | null> {
  const { log } = options
  if (!isPostgresIn(options.dataDir)) throw new NoPostgresYet(options.dataDir)
  const binaries = await findBinaries()
  const dataDir = await makeDataDir(options.dataDir)
  return withDirectoryLock(dataDir, { retryForMs: LOCK_WITHIN_MS, log }, async () => {
    const placement = await choosePlacement(dataDir, binaries)
    const from = await majorOf(placement.home)
    if (from === undefined || from === binaries.major) return null
    const running = await findPostmaster(placement.home)
    if (running) {
      throw new PostgresNotRunning(`A Postgres is running in ${placement.home} (pid ${running.pid}).`, {
        whatToDo: `Stop every Ferry that uses it, then run this again. If none does, an upgrade that was cut off has left it: kill -INT ${running.pid}`,
      })
    }
    const old = { ...placement, binaries: await findOldPrograms(from, placement, options.oldPrograms) }
    const fresh = { ...placement, home: newHomeOf(placement.home) }
    await stop(fresh) // one that an upgrade which was cut off has left
    await rm(fresh.home, { recursive: true, force: true })
    await ensureCluster(fresh)
    const rows = await moveData(old, fresh, log)
    const kept = await freeName(`${placement.home}-${from}`)
    await copyFile(filesIn(old.home).port, filesIn(fresh.home).port)
    await rename(old.home, kept)
    await rename(fresh.home, placement.home)
    return { from, to: binaries.major, rows, kept }
  })
}

async function findOldPrograms(
  major: number,
  { runAs }: Placement,
  given: string | undefined,
): Promise<Binaries> {
  const places = given === undefined ? USUAL_PLACES(major) : [given]
  for (const place of places) {
    const { code, output } = await run(runAs, join(place, 'postgres'), ['--version'])
    const hasDump = await stat(join(place, 'pg_dump')).catch(() => null)
    if (code === 0 && hasDump && output.includes(`(PostgreSQL) ${major}.`))
      return binariesIn(join(place, '..'), major)
  }
  throw new PostgresNotRunning(
    `The programs of Postgres ${major}, which made the database, are in none of: ${places.join(', ')}.`,
    {
      whatToDo:
        `Install Postgres ${major} with its pg_dump (Debian: postgresql-${major}), or name the directory of its programs with ` +
        '--old-programs DIR. The database was left as it is.',
    },
  )
}

/** Both servers run meanwhile, and neither afterwards. Returns how many rows were moved. */
async function moveData(old: Placement, fresh: Placement, log: Logger): Promise<number> {
  await using opened = new AsyncDisposableStack()
  const source = await open(old, opened)
  const target = await open(fresh, opened)
  const superuser = await connect(target, opened)
  await ensureOwner(superuser, target, fresh, log)

  const { home } = fresh
  const passwords = join(home, 'pgpass')
  const lines = [source, target].map(
    ({ port, user, password }) => `127.0.0.1:${port}:*:${user}:${password}\n`,
  )
  await writeOwned(passwords, lines.join(''), fresh)
  const roles = join(home, 'roles.sql')
  const dump = join(home, 'dump')
  opened.defer(() =>
    Promise.all([passwords, roles, dump].map(file => rm(file, { force: true }))).then(() => {}),
  )
  const tool = (name: string, { port, user }: Login, args: readonly string[]) =>
    runTool(
      old,
      name,
      [`--port=${port}`, `--username=${user}`, '--host=127.0.0.1', '--no-password', ...args],
      passwords,
    )

  await tool('pg_dumpall', source, ['--roles-only', `--file=${roles}`])
  await superuser.query(otherRoles(await readFile(roles, 'utf8')))
  await tool('pg_dump', source, ['--format=custom', `--file=${dump}`, DATABASE])
  await tool('pg_restore', target, ['--exit-on-error', '--single-transaction', `--dbname=${DATABASE}`, dump])

  const from = await connect({ ...source, database: DATABASE }, opened)
  const to = await connect({ ...target, database: DATABASE }, opened)
  const [before, after] = await Promise.all([from, to].map(countRows))
  const differing = [...(before ?? [])].filter(([table, rows]) => after?.get(table) !== rows)
  if (before === undefined || differing.length > 0) {
    throw new PostgresNotRunning(
      `Not every row was moved: ${differing.map(([table]) => table).join(', ')}.`,
      {
        whatToDo: 'The old database was left as it is. Please report this.',
      },
    )
  }
  await knowCopy(from, to)
  return [...before.values()].reduce((sum, rows) => sum + Number(rows), 0)
}

/** Throws if the server is still stopping: its files cannot be moved. */
async function stop(placement: Placement): Promise<void> {
  if (await stopServer(placement, STOP_WITHIN_MS)) return
  throw new PostgresNotRunning(`The Postgres in ${placement.home} is still stopping.`, {
    whatToDo: 'Run this again once it has ended. The old database was left as it is.',
  })
}

/** Starts a server, which is stopped at the end, and returns how its superuser logs in. */
async function open(placement: Placement, opened: AsyncDisposableStack): Promise<Login> {
  const lastLines = await startServer(placement)
  opened.defer(() => stop(placement))
  const server = await findPostmaster(placement.home)
  if (server === undefined) {
    throw new PostgresNotRunning(`Postgres did not start in ${placement.home}.`, {
      lastLines: lastLines ?? '',
      whatToDo: 'The lines above say why. The old database was left as it is.',
    })
  }
  return { port: server.port, user: SUPERUSER, password: await loadPassword(placement.home) }
}

async function connect(login: Login, opened: AsyncDisposableStack): Promise<Client> {
  const client = new Client({ connectionString: urlOf(login), application_name: 'ferry embedded upgrade' })
  client.on('error', () => {}) // fails the statement in flight, or the next one
  await client.connect()
  opened.defer(() => client.end())
  return client
}

async function runTool(
  { binaries, runAs }: Placement,
  name: string,
  args: readonly string[],
  passwords: string,
): Promise<void> {
  const { code, output } = await run(runAs, join(binaries.postgres, '..', name), args, {
    PGPASSFILE: passwords,
  })
  if (code === 0) return
  throw new PostgresNotRunning(`${name} of Postgres ${binaries.major} failed.`, {
    lastLines: output.split('\n').slice(-10).join('\n'),
    whatToDo: 'The lines above say why. Most often the disk is full. The old database was left as it is.',
  })
}

/** The statements about roles that people made: Ferry's own are there, with passwords of their own. */
function otherRoles(dumped: string): string {
  const isOurs = new RegExp(`^(CREATE|ALTER) ROLE (${SUPERUSER}|${OWNER})[ ;]`)
  // A line with a backslash is for psql.
  const lines = dumped.split('\n').filter(line => !isOurs.test(line) && !line.startsWith('\\'))
  return lines.join('\n')
}

async function countRows(client: Client): Promise<Map<string, string>> {
  const tables = await findColumn(
    client,
    z.string(),
    "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname !~ '^(pg_|information_schema)' order by 1",
  )
  const counts = new Map<string, string>()
  for (const table of tables)
    counts.set(table, String(await findValue(client, Int8, `select count(*) from ${table}`)))
  return counts
}

async function writeOwned(file: string, text: string, { runAs }: Placement): Promise<void> {
  await writeFile(file, text, { mode: 0o600 })
  if (runAs.owner) await chown(file, runAs.owner.uid, runAs.owner.gid)
}

async function freeName(name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const tried = n === 1 ? name : `${name}-${n}`
    if (!(await stat(tried).catch(() => null))) return tried
  }
}
