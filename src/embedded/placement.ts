import { existsSync, readlinkSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rename, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { reasonOf } from '#src/model/reason.ts'
import { type Binaries, binariesIn, directoryOf } from './binaries.ts'
import { DataDirUnusable, PostgresNotRunning } from './errors.ts'
import { AS_OURSELVES, asUser, IN_USER_NAMESPACE, type RunAs, run } from './run-as.ts'

/** Where Postgres keeps its files, which programs run, and as which user. */
export type Placement = {
  /** The directory with data, password and log. May not exist yet. */
  readonly home: string
  readonly binaries: Binaries
  readonly runAs: RunAs
  /** In words for people: as which user, where, and why. */
  readonly how: string
}

/**
 * Decides where and as which user Postgres runs for `dataDir`. Postgres refuses to run as root, so root tries in turn:
 *
 *   1. another user who can reach both the programs and the directory;
 *   2. a user namespace, if the machine allows one;
 *   3. another user, with the files and a copy of the programs in a directory that this user can reach. A link in
 *      `dataDir` leads to it the next time.
 *
 * Existing files keep their owner if that still works. Throws `PostgresNotRunning` if nothing works.
 */
export async function choosePlacement(dataDir: string, installed: Binaries): Promise<Placement> {
  const link = join(dataDir, 'postgres')
  const moved = movedHome(dataDir)
  const home = moved ?? link
  const here = (runAs: RunAs, why: string): Placement => {
    return { home, binaries: installed, runAs, how: `${runAs.inWords}, in ${home}${why}` }
  }
  if (process.getuid?.() !== 0) return here(AS_OURSELVES, '')

  const there = await stat(home).catch(() => undefined)
  const users = await ordinaryUsers(there?.uid)
  const ways = there?.uid === 0 ? [IN_USER_NAMESPACE, ...users] : [...users, IN_USER_NAMESPACE]
  for (const runAs of ways) {
    if (!(await canReach(runAs, installed, dirname(home)))) continue
    const why =
      there?.uid === 0 ? "; the files are root's" : '; no other user can reach both files and programs'
    return here(runAs, ` (Postgres refuses to run as root${runAs === IN_USER_NAMESPACE ? why : ''})`)
  }

  if (there && !moved) throw nobodyCanReach(home)
  const place = moved ? dirname(moved) : await createPlace(link)
  const binaries = await copyBinaries(installed, place)
  for (const runAs of users) {
    if (!(await canReach(runAs, binaries, place))) continue
    const why = `Postgres refuses to run as root, and no other user can reach ${dataDir} or the installed programs`
    return { home: join(place, 'postgres'), binaries, runAs, how: `${runAs.inWords}, in ${place} (${why})` }
  }
  throw nobodyCanReach(place)
}

/** Where an upgrade makes the files that will be `home`. */
export function newHomeOf(home: string): string {
  return `${home}.new`
}

/** Whether `dataDir` has a Postgres, in it or where its link leads. */
export function isPostgresIn(dataDir: string): boolean {
  const home = movedHome(dataDir) ?? join(dataDir, 'postgres')
  // An upgrade that was cut off before its last step left the other one alone.
  return existsSync(home) || existsSync(newHomeOf(home))
}

/** Returns where the link in `dataDir` leads; undefined without one. */
function movedHome(dataDir: string): string | undefined {
  try {
    return resolve(dataDir, readlinkSync(join(dataDir, 'postgres')))
  } catch {
    return undefined
  }
}

/** Returns the users to try: the owner of existing files, two usual ones, and two numbers that need no entry. */
async function ordinaryUsers(owner: number | undefined): Promise<RunAs[]> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const entries = passwd.split('\n').map(line => {
    const [name = '', , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
  const named = ['postgres', 'nobody'].flatMap(name => entries.filter(entry => entry.name === name))
  const owners = owner
    ? [entries.find(entry => entry.uid === owner) ?? { name: 'its owner', uid: owner, gid: owner }]
    : []
  const numbers = [65534, 1000].map(uid => ({ name: 'a user without a name', uid, gid: uid }))
  return [...owners, ...named, ...numbers].map(user => asUser(user.name, user.uid, user.gid))
}

/** Tries it: modes, ACLs and mounts are too many to predict the result from. */
async function canReach(runAs: RunAs, binaries: Binaries, directory: string): Promise<boolean> {
  const script = '"$1" --version && cd "$2"'
  const tried = await run(runAs, '/bin/sh', ['-c', script, 'sh', binaries.postgres, directory])
  return tried.code === 0
}

/** Creates a directory that everyone can reach, and `link` to it. Prefers one that survives a restart of the machine. */
async function createPlace(link: string): Promise<string> {
  const place = await mkdtemp('/var/lib/ferry-').catch(() => mkdtemp(join(tmpdir(), 'ferry-')))
  await chmod(place, 0o755)
  await symlink(join(place, 'postgres'), link)
  return place
}

/** Copies Postgres's programs so that any user can run them. The copy is named by version, so an update is copied again. */
async function copyBinaries(installed: Binaries, place: string): Promise<Binaries> {
  const { output } = await run(AS_OURSELVES, installed.postgres, ['--version'])
  const copy = join(place, output.replaceAll(/[^\w.]+/g, '-'))
  if (await stat(copy).catch(() => undefined)) return binariesIn(copy, installed.major)
  await mkdir(place, { recursive: true })
  const half = `${copy}.half`
  await rm(half, { recursive: true, force: true })
  await cp(directoryOf(installed), half, { recursive: true, verbatimSymlinks: true })
  await run(AS_OURSELVES, 'chmod', ['-R', 'a+rX', half])
  await rename(half, copy)
  return binariesIn(copy, installed.major)
}

function nobodyCanReach(directory: string): PostgresNotRunning {
  return new PostgresNotRunning(
    `Postgres refuses to run as root, and no other user can reach ${directory} or Postgres's programs.`,
    {
      whatToDo:
        'Run Ferry as an ordinary user, or set FERRY_DATA_DIR to a directory that other users can enter ' +
        '(such as /var/lib/ferry), or set DATABASE_URL to a Postgres of your own.',
    },
  )
}

/** `pg_ctl` gives the path to a shell, between double quotes. */
const READ_BY_A_SHELL = /["$`\\\r\n]/

/** Creates the data directory if it does not exist, and returns its real path. Throws `DataDirUnusable`. */
export async function makeDataDir(path: string): Promise<string> {
  try {
    await makeWithParents(path)
    const real = await realpath(path)
    if (!READ_BY_A_SHELL.test(real)) return real
  } catch (cause) {
    throw new DataDirUnusable(`${path} cannot be created: ${reasonOf(cause)}`, { cause })
  }
  throw new DataDirUnusable(
    `Its path, ${path}, has a character that a shell would act on: " $ \` \\ or a line break.`,
  )
}

/** Does not use `recursive`: where nothing can be created, as in /proc, Node would try for ever. */
async function makeWithParents(path: string): Promise<void> {
  const parent = dirname(path)
  const failure = await mkdir(path).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  )
  if (failure === undefined || failure.code === 'EEXIST') return
  if (failure.code !== 'ENOENT' || existsSync(parent)) throw failure
  await makeWithParents(parent)
  await makeWithParents(path)
}
