import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { waitFor } from './wait-for.ts'

/** Debian keeps it out of an ordinary user's path. */
const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync)

/** Tests that need PgBouncer are skipped where it is not installed. */
export const hasPgBouncer = PROGRAM !== undefined

export type PgBouncer = AsyncDisposable & {
  /** The same database by way of the pooler. */
  through(url: string): string
}

/** A real PgBouncer before the server of `url`. It refuses to run as root, and then runs as `nobody`. */
export async function openPgBouncer(
  url: string,
  mode: 'session' | 'transaction',
  settings: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  await using opened = new AsyncDisposableStack()
  const { hostname, port, username, password } = new URL(url)
  const directory = await mkdtemp(join(tmpdir(), 'ferry-pgbouncer-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const own = await freePort()
  const server = `host=${hostname} port=${port || 5432} user=${username} password=${decodeURIComponent(password) || 'x'}`
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: own,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: 30,
    max_client_conn: 300,
    logfile: join(directory, 'log'),
    pidfile: join(directory, 'pid'),
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  await writeFile(join(directory, 'ini'), `[databases]\n* = ${server}\n\n[pgbouncer]\n${lines.join('\n')}\n`)
  const runAs = await otherThanRoot(directory)
  const child = spawn(PROGRAM ?? '', ['-q', join(directory, 'ini')], { stdio: 'ignore', ...runAs })
  opened.defer(() => ended(child))
  const through = (target: string) => {
    const address = new URL(target)
    return Object.assign(address, { host: `127.0.0.1:${own}` }).href
  }
  await waitFor(() => answers(through(url)), { what: 'PgBouncer to answer' })
  const kept = opened.move()
  return { through, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function otherThanRoot(directory: string): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  await chown(directory, uid, gid)
  await chmod(directory, 0o755)
  return { uid, gid }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  await client.end()
  return true
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}
