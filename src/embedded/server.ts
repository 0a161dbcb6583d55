import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { filesIn } from './cluster.ts'
import type { Placement } from './placement.ts'
import { run } from './run-as.ts'

/** The server that runs on a data directory, according to `postmaster.pid`. */
export type Postmaster = {
  readonly pid: number
  readonly port: number
  /** `starting`, `ready` or `stopping`. */
  readonly status: string
}

/**
 * Settings given at each start. They override `postgresql.conf`, in which everything else may be changed.
 *
 * The log has only what the server reports about itself. Errors of statements go to the client alone, because they may
 * quote a person's address.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // The path of a socket in a deep directory could exceed the 107 bytes that the system allows.
  unix_socket_directories: '',
  wal_level: 'minimal',
  // After a checkpoint whole pages are logged, which is most of what a sync of few changes writes. This halves it.
  wal_compression: 'on',
  // By default a 32nd of the shared memory: a sync of many changes then writes the log out itself.
  wal_buffers: '16MB',
  max_wal_senders: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
}

/** A pid above the system's maximum: no process ever has it. */
const UNUSED_PID = 2 ** 22 + 1

/** Returns the server that runs on this data directory, or undefined. */
export async function findPostmaster(home: string): Promise<Postmaster | undefined> {
  const { data } = filesIn(home)
  const text = await readFile(`${data}/postmaster.pid`, 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!pid || !(await isServerOf(data, pid))) return undefined
  return { pid, port: Number(lines[3]), status: lines[7]?.trim() ?? 'starting' }
}

/**
 * Whether the process is alive and is the server of this directory. A zombie has no command line, and a process that got
 * the same pid after a restart of the machine has another one.
 */
async function isServerOf(data: string, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return commandLine.split('\0').includes(data)
  }
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Tries once to start the server. Returns undefined, or the last lines that it wrote if it did not start. */
export async function startServer({ home, binaries, runAs }: Placement): Promise<string | undefined> {
  const files = filesIn(home)
  await disarmStalePidFile(files.data)
  const port = await choosePort(files.port)
  const settings = Object.entries(SETTINGS).map(([name, value]) => `-c ${name}=${value}`)
  const before = (await readFile(files.log, 'utf8').catch(() => '')).length
  const args = [
    'start',
    '-w',
    '-t',
    '60',
    '-D',
    files.data,
    '-l',
    files.log,
    '-o',
    `-p ${port} ${settings.join(' ')}`,
  ]
  const started = await run(runAs, binaries.pgCtl, args)
  if (started.code === 0) {
    await writeFile(files.port, String(port))
    return undefined
  }
  const log = (await readFile(files.log, 'utf8').catch(() => '')).slice(before)
  return `${log.trim()}\n${started.output}`.trim().split('\n').slice(-12).join('\n')
}

/**
 * Writes an unused pid into a stale pid file.
 *
 * Postgres believes a pid file if any process has that pid, and would not start while a zombie has it. With an unused pid it
 * makes its second check: whether orphans of the dead server still use its shared memory. Removing the file would skip
 * that check and risk the data.
 */
async function disarmStalePidFile(data: string): Promise<void> {
  const file = `${data}/postmaster.pid`
  const text = await readFile(file, 'utf8').catch(() => '')
  if (text) await writeFile(file, text.replace(/^\d+/, String(UNUSED_PID)))
}

/** Returns the port of the last start if it is free, so that saved addresses stay valid, otherwise any free port. */
async function choosePort(file: string): Promise<number> {
  const last = Number(await readFile(file, 'utf8').catch(() => ''))
  return (last && (await tryPort(last))) || (await tryPort(0)) || 0
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise(resolve => {
    const listener = createServer()
    listener.on('error', () => resolve(undefined))
    listener.listen(port, '127.0.0.1', () => {
      const address = listener.address()
      listener.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })
}

/**
 * Stops the server: it cuts connections and rolls back open transactions. Returns true, or false if it still runs after
 * `waitMs`; it continues to stop.
 */
export async function stopServer({ home, binaries, runAs }: Placement, waitMs: number): Promise<boolean> {
  const server = await findPostmaster(home)
  if (!server) return true
  // `pg_ctl stop -m fast` sends this signal too, but does not let root stop the server of another user.
  if (process.platform !== 'win32') process.kill(server.pid, 'SIGINT')
  else await run(runAs, binaries.pgCtl, ['stop', '-m', 'fast', '-W', '-D', filesIn(home).data])
  const giveUpAt = performance.now() + waitMs
  while (await findPostmaster(home)) {
    if (performance.now() > giveUpAt) return false
    await delay(50)
  }
  return true
}
