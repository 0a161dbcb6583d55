import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { filesIn } from './cluster.ts'
import type { Placement } from './placement.ts'
import { run } from './run-as.ts'

/** A server that runs on the data directory, as its `postmaster.pid` tells. */
export type Postmaster = {
  readonly pid: number
  readonly port: number
  /** `starting`, `ready` or `stopping`. */
  readonly status: string
}

/**
 * Given at each start, over what `postgresql.conf` says; everything else may be tuned there.
 *
 * Its log keeps what the server has to say about itself. Errors of statements go to the client alone: they may
 * quote a person's address.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // The path of a socket in a deep directory is longer than the 107 bytes the system allows.
  unix_socket_directories: '',
  wal_level: 'minimal',
  // Pages written whole after a checkpoint are most of what a sync of few changes writes ahead: half of it saved.
  wal_compression: 'on',
  max_wal_senders: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
}

/** More than the system can have: a process number that is never anybody's. */
const NOBODYS_PID = 2 ** 22 + 1

/** The server that runs on this data directory, or undefined. */
export async function findPostmaster(home: string): Promise<Postmaster | undefined> {
  const { data } = filesIn(home)
  const text = await readFile(`${data}/postmaster.pid`, 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!pid || !(await isServerOf(data, pid))) return undefined
  return { pid, port: Number(lines[3]), status: lines[7]?.trim() ?? 'starting' }
}

/**
 * True if the process lives and serves this directory. A zombie has no command line, and a stranger that was given
 * the same number after a restart of the machine has another one.
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

/** Starts the server, once, and returns undefined, or the last lines it wrote if it did not start. */
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
 * Postgres trusts a pid file of which any process has the number, and would refuse to start beside a zombie. Given
 * a number nobody has, it goes on to its second check, whether orphans of the dead server still use its shared
 * memory; removing the file would skip that check and risk the data.
 */
async function disarmStalePidFile(data: string): Promise<void> {
  const file = `${data}/postmaster.pid`
  const text = await readFile(file, 'utf8').catch(() => '')
  if (text) await writeFile(file, text.replace(/^\d+/, String(NOBODYS_PID)))
}

/** The port of the last time if it is free, so that bookmarks stay good, else any free one. */
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
 * Ends the server in good order and returns true, or false if it still runs after `patienceMs` (it goes on ending).
 * Connections are cut, transactions under way rolled back.
 */
export async function stopServer({ home, binaries, runAs }: Placement, patienceMs: number): Promise<boolean> {
  const server = await findPostmaster(home)
  if (!server) return true
  // What `pg_ctl stop -m fast` does, except that root may do it whoever the server runs as.
  if (process.platform !== 'win32') process.kill(server.pid, 'SIGINT')
  else await run(runAs, binaries.pgCtl, ['stop', '-m', 'fast', '-W', '-D', filesIn(home).data])
  const giveUpAt = performance.now() + patienceMs
  while (await findPostmaster(home)) {
    if (performance.now() > giveUpAt) return false
    await delay(50)
  }
  return true
}
