import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { superuserUrlOf } from '#test/support/server.ts'

/** A Postgres on which benches make databases. Disposing drops what is left of them and ends a server of our own. */
export type Server = AsyncDisposable & {
  readonly version: string
  createDatabase(): Promise<BenchDatabase>
}

/** An empty database; disposing drops it, whoever is connected. */
export type BenchDatabase = AsyncDisposable & { readonly url: string }

/** The server of FERRY_BENCH_DATABASE_URL, or an embedded one, as Ferry runs it, in a temporary directory. */
export async function openServer(): Promise<Server> {
  await using opened = new AsyncDisposableStack()
  const url = process.env.FERRY_BENCH_DATABASE_URL || (await openOwn(opened))
  const admin = new Client({ connectionString: url, application_name: 'ferry bench' })
  await admin.connect()
  opened.defer(() => admin.end())
  const { rows } = await admin.query<{ server_version: string }>('show server_version')

  const names = new Set<string>()
  const drop = async (name: string) => {
    if (names.delete(name)) await admin.query(`drop database ${name} with (force)`)
  }
  opened.defer(async () => {
    for (const name of names) await drop(name)
  })
  const kept = opened.move()
  return {
    version: rows[0]?.server_version ?? '',
    async createDatabase() {
      const name = `ferry_bench_${randomBytes(4).toString('hex')}`
      await admin.query(`create database ${name} template template0 encoding 'UTF8'`)
      names.add(name)
      await admin.query(`alter database ${name} set wal_compression = on`) // as docs/operators.md recommends
      const address = new URL(url)
      address.pathname = `/${name}`
      return { url: address.href, [Symbol.asyncDispose]: () => drop(name) }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function openOwn(opened: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `ferry-bench-${process.pid}-`))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  // As root, Postgres runs as another user, who must be able to enter.
  await chmod(directory, 0o755)
  const log = pino({ level: 'silent' })
  const { url } = opened.use(await openEmbeddedPostgres({ dataDir: directory, log }))
  return await superuserUrlOf(directory, url)
}
