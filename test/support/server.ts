import { chmod, mkdtemp, readdir, readFile, realpath, rm, statfs, writeFile } from 'node:fs/promises'
import { freemem, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { loadPassword, SUPERUSER } from '#src/embedded/cluster.ts'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { findPostmaster } from '#src/embedded/server.ts'
import { onServer } from './database.ts'

/** The start of the directory names of this user's test runs; the process id follows. */
const OURS = `ferry-test-run-${userInfo().username}-`

/** Nothing on this server needs to survive, and its many small databases are gone before autovacuum could help. */
const SETTINGS = [
  'fsync = off',
  'synchronous_commit = off',
  'full_page_writes = off',
  'autovacuum = off',
  // New tables are flushed, which costs nothing here, instead of being written to the WAL.
  'wal_skip_threshold = 0',
  // A clone of the template is copied within the kernel.
  'file_copy_method = clone',
  // Six test files at a time, many of them with several workers.
  'max_connections = 250',
]

/** A file system in memory, where copying the template takes a seventh of the time; and what a run takes of it at most. */
const MEMORY = '/dev/shm'
const RUN_TAKES = 4 * 1024 ** 3

/** A server, as who owns Ferry's databases and as its superuser. */
export type TestServer = { readonly serverUrl: string; readonly superuserUrl: string }

/** The server that the environment names, or an embedded one. */
export async function findServer(opened: AsyncDisposableStack): Promise<TestServer> {
  const { FERRY_TEST_DATABASE_URL: given, FERRY_TEST_SUPERUSER_URL: superuser } = process.env
  return given ? { serverUrl: given, superuserUrl: superuser || given } : openServer(opened)
}

/** Opens an embedded Postgres in a new directory, in memory if there is room, both removed at the end. */
async function openServer(opened: AsyncDisposableStack): Promise<TestServer> {
  for (const parent of [MEMORY, tmpdir()]) await removeLeftovers(parent)
  const parent = (await hasRoom(MEMORY)) ? MEMORY : tmpdir()
  const directory = await mkdtemp(join(parent, `${OURS}${process.pid}-`))
  // Some process of the tests may still be connected: then closing it has left the server to that one.
  opened.defer(() => endServerIn(directory))
  await chmod(directory, 0o755)
  const open = () => openEmbeddedPostgres({ dataDir: directory, log: pino({ level: 'silent' }) })
  // The number of connections counts from the next start on.
  await using first = await open()
  const firstUrl = await superuserUrlOf(directory, first.url)
  for (const setting of SETTINGS) await onServer(firstUrl, `alter system set ${setting}`)
  await first[Symbol.asyncDispose]()
  await trust(new URL(first.url).username, directory)
  const postgres = opened.use(await open())
  const superuserUrl = await superuserUrlOf(directory, postgres.url)
  await onServer(superuserUrl, `alter role ${new URL(postgres.url).username} createdb`)
  return { serverUrl: postgres.url, superuserUrl }
}

/** Tests connect many thousand times: who needs no password does so in two thirds of the time. Other roles need theirs. */
async function trust(role: string, dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres', 'data', 'pg_hba.conf')
  await writeFile(file, `host all ${role} 127.0.0.1/32 trust\n${await readFile(file, 'utf8')}`)
}

/** The address of an embedded Postgres as its superuser, whom Ferry itself uses to start and to stop it only. */
export async function superuserUrlOf(dataDir: string, url: string): Promise<string> {
  const password = await loadPassword(await realpath(join(dataDir, 'postgres')))
  return Object.assign(new URL(url), { username: SUPERUSER, password }).href
}

async function hasRoom(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= RUN_TAKES && freemem() >= 2 * RUN_TAKES
}

/** Ends the servers of test runs that were killed before they could do it themselves, and removes their files. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(OURS) || isAlive(Number.parseInt(name.slice(OURS.length), 10))) continue
    await endServerIn(join(parent, name))
  }
}

async function endServerIn(directory: string): Promise<void> {
  const server = await findPostmaster(join(directory, 'postgres'))
  if (server) process.kill(server.pid, 'SIGQUIT')
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
