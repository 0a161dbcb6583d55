import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { waitFor } from './wait-for.ts'

/** Whether this machine can start a Redis of a test's own, to be stopped, filled and misconfigured. */
export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0

export type OwnRedis = AsyncDisposable & {
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  /** For orders to the server; `url` is what Ferry is given. */
  readonly admin: Redis
}

/** Starts a Redis that keeps nothing on disk, with these settings besides, at `port` or any that is free. */
export async function startRedis(
  settings: readonly string[] = [],
  port?: number,
  first: readonly string[] = [],
): Promise<OwnRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-test-redis-'))
  const at = port ?? (await freePort())
  const common = [
    '--port',
    `${at}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    directory,
  ]
  const child = spawn('redis-server', [...first, ...common, ...settings], { stdio: 'ignore' })
  const admin = new Redis({ port: at, host: '127.0.0.1', maxRetriesPerRequest: null })
  admin.on('error', () => {})
  await waitFor(async () => (await admin.ping()) === 'PONG', { what: 'a Redis to start' })
  return {
    url: `redis://127.0.0.1:${at}`,
    port: at,
    child,
    admin,
    async [Symbol.asyncDispose]() {
      admin.disconnect()
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
