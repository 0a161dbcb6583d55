import { globSync } from 'node:fs'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { findCause } from '#src/db/known-database.ts'
import { migrate } from '#src/db/migrate.ts'
import { openDatabase } from '#src/db/pool.ts'
import { binariesIn, findBinaries } from '#src/embedded/binaries.ts'
import { filesIn, SUPERUSER } from '#src/embedded/cluster.ts'
import { urlOf } from '#src/embedded/connection.ts'
import { DATABASE, ensureOwner } from '#src/embedded/owner.ts'
import { choosePlacement, isPostgresIn } from '#src/embedded/placement.ts'
import { run } from '#src/embedded/run-as.ts'
import { findPostmaster, startServer, stopServer } from '#src/embedded/server.ts'
import { upgradeEmbedded } from '#src/embedded/upgrade.ts'
import { jsonLines, runFerry } from '#test/cli/run-ferry.ts'
import { ask, openEmbeddedHarness } from './embedded-harness.ts'

const OURS = (await findBinaries()).major

/** The programs of another version, as Debian installs them. */
const OTHER = globSync('/usr/lib/postgresql/*/bin/pg_dump')
  .map(path => ({ bin: dirname(path), major: Number(path.split('/')[4]) }))
  .find(({ major }) => major !== OURS && major >= 15)

const WHY_NOT = OTHER
  ? ''
  : ' (NOT RUN: it needs the programs of another version, Debian package postgresql-15)'
const log = pino({ level: 'silent' })

/** What a Ferry that brought the other version along would have left: a run, and a role and a table that a person made. */
async function makeOld(dataDir: string): Promise<void> {
  const { bin = '', major = 0 } = OTHER ?? {}
  await mkdir(dataDir)
  const binaries = binariesIn(dirname(bin), major)
  const placement = { ...(await choosePlacement(dataDir, await findBinaries())), binaries }
  const { home, runAs } = placement
  const files = filesIn(home)
  for (const path of [home, files.data]) await mkdir(path, { mode: 0o700 })
  await writeFile(files.password, 'secret', { mode: 0o600 })
  if (runAs.owner)
    for (const path of [home, files.data, files.password]) await chown(path, runAs.owner.uid, runAs.owner.gid)
  const args = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', `--username=${SUPERUSER}`]
  const made = await run(runAs, binaries.initdb, [
    ...args,
    `--pgdata=${files.data}`,
    `--pwfile=${files.password}`,
  ])
  expect(made).toMatchObject({ code: 0 })
  expect(await startServer(placement)).toBeUndefined()
  const port = (await findPostmaster(home))?.port ?? 0
  const login = { port, user: SUPERUSER, password: 'secret' }
  const superuser = new Client({ connectionString: urlOf(login) })
  await superuser.connect()
  const owner = await ensureOwner(superuser, login, placement, log)
  await superuser.query(
    "create role ferry_reader; create role grafana login password 'g' in role ferry_reader",
  )
  await superuser.end()
  const url = urlOf({ ...owner, database: DATABASE })
  await migrate(url)
  {
    await using database = openDatabase(url, log)
    await loadInstallation(database.pool)
  }
  await ask(url, "insert into ferry.leases values ('kept', gen_random_uuid(), 'of before', now(), now())")
  await ask(url, 'create schema people')
  await ask(url, "create table people.notes as select 'of before' as note")
  expect(await stopServer(placement, 20_000)).toBe(true)
}

/** The other version's programs, whose dump leaves out the rows of a table of Ferry and of one that a person made. */
async function openForgetfulPrograms() {
  const { bin = '' } = OTHER ?? {}
  const home = await mkdtemp(join(tmpdir(), 'ferry-old-programs-'))
  await chmod(home, 0o755)
  const directory = join(home, 'bin')
  await mkdir(directory)
  for (const name of ['postgres', 'pg_ctl', 'initdb', 'pg_dumpall', 'pg_restore'])
    await symlink(join(bin, name), join(directory, name))
  const forgotten = '--exclude-table-data=ferry.leases --exclude-table-data=people.notes'
  const script = `#!/bin/sh\nexec ${join(bin, 'pg_dump')} ${forgotten} "$@"\n`
  await writeFile(join(directory, 'pg_dump'), script, { mode: 0o755 })
  return { directory, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) }
}

/** Programs of a directory of their own: those that are named, from where they are. */
async function openPrograms(programs: Readonly<Record<string, string>>) {
  const home = await mkdtemp(join(tmpdir(), 'ferry-some-programs-'))
  await chmod(home, 0o755)
  for (const [name, path] of Object.entries(programs)) await symlink(path, join(home, name))
  return { directory: home, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) }
}

test.skipIf(!OTHER)(
  `data of another major version is left as it is, and moved by ferry embedded upgrade${WHY_NOT}`,
  async () => {
    await using place = await openEmbeddedHarness()
    await makeOld(place.dataDir)
    const { home } = { home: await place.home() }
    const control = join(filesIn(home).data, 'global/pg_control')
    const before = await readFile(control)

    const refused = {
      message: expect.stringMatching(
        new RegExp(`made by Postgres ${OTHER?.major}, and .* Postgres ${OURS} `),
      ),
    }
    await expect(place.open()).rejects.toMatchObject({
      ...refused,
      whatToDo: expect.stringContaining('ferry embedded upgrade'),
    })
    const nowhere = upgradeEmbedded({ dataDir: place.dataDir, oldPrograms: '/nowhere', log })
    await expect(nowhere).rejects.toMatchObject({
      message: expect.stringContaining('/nowhere'),
      whatToDo: expect.stringContaining('--old-programs'),
    })
    expect(await readFile(control)).toEqual(before)

    const { bin = '' } = OTHER ?? {}
    const { postgres: ours } = await findBinaries()
    for (const programs of [
      { postgres: join(bin, 'postgres') }, // without a pg_dump
      { postgres: ours, pg_dump: join(bin, 'pg_dump') },
    ]) {
      await using some = await openPrograms(programs)
      const upgrading = upgradeEmbedded({ dataDir: place.dataDir, oldPrograms: some.directory, log })
      await expect(upgrading).rejects.toThrow(
        `The programs of Postgres ${OTHER?.major}, which made the database, are in none of: ${some.directory}.`,
      )
    }

    await using forgetful = await openForgetfulPrograms()
    await expect(
      upgradeEmbedded({ dataDir: place.dataDir, oldPrograms: forgetful.directory, log }),
    ).rejects.toMatchObject({ message: 'Not every row was moved: ferry.leases, people.notes.' })

    const env = { FERRY_DATA_DIR: place.dataDir }
    const upgraded = await runFerry(['embedded', 'upgrade', '--json'], env)
    expect(upgraded).toMatchObject({ code: 0, stderr: '' })
    const kept = `${home}-${OTHER?.major}`
    expect(jsonLines(upgraded)).toEqual([{ from: OTHER?.major, to: OURS, rows: expect.any(Number), kept }])
    expect(await readFile(join(filesIn(kept).data, 'PG_VERSION'), 'utf8')).toBe(`${OTHER?.major}\n`)
    expect(await readFile(join(filesIn(home).data, 'PG_VERSION'), 'utf8')).toBe(`${OURS}\n`)
    const [portBefore, portNow] = await Promise.all(
      [kept, home].map(place => readFile(filesIn(place).port, 'utf8')),
    )
    expect(portNow).toBe(portBefore)
    for (const file of ['dump', 'pgpass', 'roles.sql'])
      await expect(stat(join(home, file))).rejects.toThrow('ENOENT')

    // As if it had been cut off before its last step.
    await rename(home, `${home}.new`)
    expect(isPostgresIn(place.dataDir)).toBe(true)
    await using postgres = await place.open()
    expect(await ask(postgres.url, "select holder from ferry.leases where name = 'kept'")).toBe('of before')
    expect(await ask(postgres.url, 'select note from people.notes')).toBe('of before')
    expect(await ask(postgres.url, "select pg_has_role('grafana', 'ferry_reader', 'member')")).toBe(true)
    expect(
      await ask(postgres.url, "select datlocprovider::text from pg_database where datname = 'ferry'"),
    ).toBe('b')
    expect(await migrate(postgres.url)).toBe(0)
    {
      await using database = openDatabase(postgres.url, log)
      expect(await findCause(database.pool)).toBeNull()
    }
    const again = await runFerry(['embedded', 'upgrade'], env)
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to do') })
  },
)

test('files that an upgrade has made beside their place, and was cut off before it put them there, are used', async () => {
  await using place = await openEmbeddedHarness()
  {
    await using postgres = await place.open()
    await ask(postgres.url, "create table notes as select 'kept' as note")
  }
  const home = await place.home()
  await rename(home, `${home}.new`)
  expect(isPostgresIn(place.dataDir)).toBe(true)
  await using postgres = await place.open()
  expect(await ask(postgres.url, 'select note from notes')).toBe('kept')
  expect((await readdir(dirname(home))).filter(name => name.startsWith('postgres'))).toEqual(['postgres'])
})

test('a Postgres of your own is not the embedded one', async () => {
  const refused = await runFerry(['embedded', 'upgrade'], { DATABASE_URL: 'postgres://127.0.0.1:1/x' })
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('DATABASE_URL is set') })
})
