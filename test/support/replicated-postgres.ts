import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { findBinaries } from '#src/embedded/binaries.ts'
import { choosePlacement } from '#src/embedded/placement.ts'
import { run } from '#src/embedded/run-as.ts'
import { waitFor } from './wait-for.ts'

/*
 * Servers that can be copied while they run, as a base backup does, and the one address that leads to whichever is meant: what
 * a failover looks like to those who work.
 */

export type PostgresServer = {
  readonly port: number
  /** Runs one statement as the superuser, in the database `postgres`. */
  query<Row = Record<string, unknown>>(sql: string): Promise<Row[]>
  /** Copies its files while it runs: a base backup, not started. */
  copy(): Promise<PostgresCopy>
  /** Ends it as a crash does. */
  crash(): Promise<void>
}

export type PostgresCopy = {
  /** Starts it as a standby of `primary`. */
  follow(primary: PostgresServer): Promise<PostgresServer>
  /** Starts it as a restored backup, which ends its recovery with what it has. */
  restore(): Promise<PostgresServer>
}

const SETTINGS =
  "fsync = off\nwal_level = replica\nmax_wal_senders = 4\nhot_standby = on\nunix_socket_directories = ''\n"

/** Starts a new server. All that were made of it end with `opened`. */
export async function openReplicatedPostgres(opened: AsyncDisposableStack): Promise<PostgresServer> {
  const { binaries, runAs, root } = await place(opened)
  const owned = (path: string) =>
    run({ ...runAs, changeUser: false, through: [] }, 'chown', ['-R', `${runAs.owner?.uid ?? ''}`, path])
  const sh = (script: string, ...args: string[]) => run(runAs, '/bin/sh', ['-c', script, 'sh', ...args])
  const running = new Set<string>()
  opened.defer(async () => {
    for (const data of running) await run(runAs, binaries.pgCtl, ['stop', '-m', 'immediate', '-D', data])
  })
  let servers = 0

  async function start(data: string): Promise<PostgresServer> {
    const port = await freePort()
    const started = await run(runAs, binaries.pgCtl, [
      'start',
      '-w',
      '-D',
      data,
      '-l',
      `${data}.log`,
      '-o',
      `-p ${port} -h 127.0.0.1`,
    ])
    if (started.code !== 0) throw new Error(started.output)
    running.add(data)
    const url = urlOf(port, 'postgres')
    const query = async (sql: string) => {
      const client = new Client({ connectionString: url })
      await client.connect()
      return client
        .query(sql)
        .finally(() => client.end())
        .then(({ rows }) => rows)
    }
    return {
      port,
      query: query as PostgresServer['query'],
      async copy() {
        const copied = join(root, `copy-${++servers}`)
        const client = new Client({ connectionString: url })
        await client.connect()
        await client.query(`select pg_backup_start('test', true)`)
        await sh('cp -a "$1" "$2" && rm -f "$2/postmaster.pid" "$2/postmaster.opts"', data, copied)
        const { rows } = await client.query<{ labelfile: string }>(
          'select labelfile from pg_backup_stop(false)',
        )
        await client.end()
        await sh(
          'printf %s "$2" > "$1/backup_label" && cp "$3"/pg_wal/0* "$1/pg_wal/"',
          copied,
          rows[0]?.labelfile ?? '',
          data,
        )
        const begin = (signal: string, setting: string) =>
          sh('touch "$1/$2" && printf "%s\\n" "$3" >> "$1/postgresql.conf"', copied, signal, setting).then(
            () => start(copied),
          )
        return {
          follow: primary =>
            begin('standby.signal', `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=ferry'`),
          restore: () => begin('recovery.signal', `restore_command = 'false'`),
        }
      },
      async crash() {
        running.delete(data)
        await run(runAs, binaries.pgCtl, ['stop', '-m', 'immediate', '-D', data])
      },
    }
  }

  const data = join(root, 'first')
  const made = await run(runAs, binaries.initdb, [
    '-D',
    data,
    '-U',
    'ferry',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
  ])
  if (made.code !== 0) throw new Error(made.output)
  await writeFile(join(data, 'postgresql.conf'), SETTINGS, { flag: 'a' })
  await owned(data)
  return start(data)
}

async function place(opened: AsyncDisposableStack) {
  const root = await mkdtemp(join(tmpdir(), 'ferry-test-replicated-'))
  opened.defer(() => rm(root, { recursive: true, force: true }))
  await chmod(root, 0o777)
  return { ...(await choosePlacement(root, await findBinaries())), root }
}

function urlOf(port: number, database: string): string {
  return `postgres://ferry@127.0.0.1:${port}/${database}`
}

/** An address that stays the same while the server behind it changes. */
export async function openAddress(opened: AsyncDisposableStack, first: PostgresServer) {
  let target = first.port
  const sockets = new Set<Socket>()
  const relay = createServer(socket => {
    const server = connectTo(target, '127.0.0.1')
    for (const one of [socket, server]) {
      sockets.add(one.on('error', () => {}).on('close', () => sockets.delete(one)))
    }
    socket.pipe(server).pipe(socket)
    socket.on('close', () => server.destroy())
    server.on('close', () => socket.destroy())
  })
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  opened.defer(async () => {
    cut()
    await new Promise(resolve => relay.close(resolve))
  })
  const address = relay.address()
  if (address === null || typeof address === 'string') throw new Error('the relay has no port')
  return {
    url: urlOf(address.port, 'ferry'),
    /** From now on it leads to another server. Open connections break. */
    leadTo(server: PostgresServer) {
      target = server.port
      cut()
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>(resolve => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise(resolve => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('there is no free port')
  return address.port
}

/** Resolves once the server accepts writes: its recovery is over. */
export function acceptsWrites(server: PostgresServer): Promise<unknown> {
  return waitFor(
    async () => {
      const [row] = await server.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
      return row?.standby === false
    },
    { what: 'the server to accept writes' },
  )
}
