import { randomBytes } from 'node:crypto'
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PostgresNotRunning } from './errors.ts'
import { newHomeOf, type Placement } from './placement.ts'
import { AS_OURSELVES, run } from './run-as.ts'

/** The superuser of the cluster. It watches who is connected, and makes the owner of the database: see owner.ts. */
export const SUPERUSER = 'ferry'

/** Returns the files in a placement's home. */
export function filesIn(home: string) {
  return {
    data: join(home, 'data'),
    /** Of the superuser. */
    password: join(home, 'password'),
    ownerPassword: join(home, 'owner-password'),
    log: join(home, 'server.log'),
    port: join(home, 'port'),
  }
}

/** Returns the superuser's password, which was created with the cluster. Never log it. */
export async function loadPassword(home: string): Promise<string> {
  const file = filesIn(home).password
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (cause) {
    throw new PostgresNotRunning(`The password of the Postgres in ${home} cannot be read from ${file}.`, {
      whatToDo: 'Run Ferry as the user who owns this directory, or set FERRY_DATA_DIR to another directory.',
      cause,
    })
  }
}

/**
 * Makes sure that `home` holds an initialised Postgres that belongs to the right user. Call it under the directory's lock.
 *
 * The files are created under another name and renamed when they are complete. So an initialisation that was killed leaves
 * no `home`, and the next one removes its files.
 */
export async function ensureCluster(placement: Placement): Promise<void> {
  const { home, runAs } = placement
  const there = await stat(home).catch(() => undefined)
  if (!there) return (await finishUpgrade(home)) ? undefined : initialise(placement)
  if (runAs.owner && runAs.owner.uid !== there.uid) {
    await run(AS_OURSELVES, 'chown', ['-R', `${runAs.owner.uid}:${runAs.owner.gid}`, home])
  }
}

/** Does the last step of an upgrade that was cut off before it: nothing is at `home` only then. Returns whether it was. */
function finishUpgrade(home: string): Promise<boolean> {
  return rename(newHomeOf(home), home).then(
    () => true,
    () => false,
  )
}

async function initialise({ home, binaries, runAs, how }: Placement): Promise<void> {
  await mkdir(dirname(home), { recursive: true })
  await removeHalfMade(home)
  const half = await mkdtemp(`${home}.half-`)
  const files = filesIn(half)
  await mkdir(files.data, { mode: 0o700 })
  await writeFile(files.password, randomBytes(24).toString('hex'), { mode: 0o600, flush: true })
  if (runAs.owner) {
    for (const path of [half, files.data, files.password]) await chown(path, runAs.owner.uid, runAs.owner.gid)
  }
  const made = await run(runAs, binaries.initdb, [
    `--pgdata=${files.data}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${files.password}`,
    '--auth=scram-sha-256',
    // Whatever LANG is, text is UTF-8 and sorts by code point on every machine.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ])
  if (made.code !== 0) {
    await rm(half, { recursive: true, force: true })
    throw new PostgresNotRunning(`Postgres could not be initialised in ${home} (${how}).`, {
      whatToDo: made.output.includes('could not look up effective user ID')
        ? 'Postgres needs a user that has a name: add this one to /etc/passwd, run Ferry as another one, or set DATABASE_URL ' +
          'to a Postgres of your own.'
        : 'Read the lines above. Most often the disk is full or the directory cannot be written to.',
      lastLines: made.output.split('\n').slice(-10).join('\n'),
    })
  }
  await rename(half, home)
}

async function removeHalfMade(home: string): Promise<void> {
  const siblings = await readdir(dirname(home))
  const halfMade = siblings.filter(name => name.startsWith(`${basename(home)}.half-`))
  for (const name of halfMade) {
    // An initdb whose parent was killed may still write there for a moment.
    await rm(join(dirname(home), name), { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}
