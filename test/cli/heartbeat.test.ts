import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { pino } from 'pino'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { HEARTBEAT_FILE, Heartbeat } from '#src/cli/heartbeat.ts'
import { readConfig } from '#src/config.ts'
import { openDatabase } from '#src/db/pool.ts'
import { openTestDatabase, withDatabase } from '../support/database.ts'
import { holdLease, leasesOf } from '../support/leases.ts'
import { waitFor } from '../support/wait-for.ts'

const log = pino({ level: 'silent' })

test('a worker that reaches Postgres touches the file that the image looks at, and takes it away when it ends', async () => {
  await using database = await openTestDatabase()
  const config = readConfig({ FERRY_DATA_DIR: await directory() })
  await using opened = openDatabase(database.url, log)
  const { pool } = opened
  const heartbeat = new Heartbeat({ pool, config, holder: 'test', log })
  await waitFor(() => existsSync(join(config.dataDir, HEARTBEAT_FILE)), { what: 'a heartbeat' })
  await heartbeat[Symbol.asyncDispose]()
  expect(existsSync(join(config.dataDir, HEARTBEAT_FILE))).toBe(false)
  const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')
  expect(dockerfile).toContain(`"$FERRY_DATA_DIR/${HEARTBEAT_FILE}"`)
})

test('a heartbeat has given its lease up once the file is there, so that the next one finds it free', async () => {
  await using database = await openTestDatabase()
  const config = readConfig({ FERRY_DATA_DIR: await directory() })
  await using opened = openDatabase(database.url, log)
  const { pool } = opened
  // Another worker's heartbeat is under way all the time.
  await holdLease(pool, 'alive:other')
  await using _ = new Heartbeat({ pool, config, holder: 'test', log })
  await waitFor(() => existsSync(join(config.dataDir, HEARTBEAT_FILE)), { what: 'a heartbeat' })
  expect((await leasesOf(pool)).map(({ name }) => name)).toEqual(['alive:other'])
})

test('a heartbeat is repeated for as long as the worker runs, and no longer', async () => {
  await using database = await openTestDatabase()
  const config = readConfig({ FERRY_DATA_DIR: await directory() })
  await using opened = openDatabase(database.url, log)
  await opened.pool.query('select')
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const path = join(config.dataDir, HEARTBEAT_FILE)
  const heartbeat = new Heartbeat({ pool: opened.pool, config, holder: 'test', log })
  expect(vi.getTimerCount()).toBe(1)
  const nextBeat = () => {
    vi.advanceTimersByTime(20_000)
    return existsSync(path)
  }
  for (let beat = 1; beat <= 4; beat++) {
    await waitFor(nextBeat, { what: `heartbeat ${beat}` })
    await rm(path)
  }
  await heartbeat[Symbol.asyncDispose]()
  expect(vi.getTimerCount()).toBe(0)
  expect(existsSync(path)).toBe(false)
})

test('one that does not reach Postgres has no heartbeat, and goes on', async () => {
  const config = readConfig({ FERRY_DATA_DIR: await directory() })
  const pool = new Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/nowhere' })
  const failed = Promise.withResolvers<void>()
  const listening = { ...log, debug: () => failed.resolve() } as typeof log
  await using _ = new Heartbeat({ pool, config, holder: 'test', log: listening })
  await failed.promise
  expect(existsSync(join(config.dataDir, HEARTBEAT_FILE))).toBe(false)
  await pool.end()
})

test.each([
  ['accepts no writes', (name: string) => `alter database ${name} set default_transaction_read_only = on`],
  ['shows the tables, and no more', (name: string) => `alter database ${name} set role pg_read_all_data`],
])('one whose Postgres answers but %s has no heartbeat', async (_, setting) => {
  await using database = await openTestDatabase()
  const config = readConfig({ FERRY_DATA_DIR: await directory() })
  // Whoever may read all data is not the owner of the database.
  const { superuserUrl } = inject('database')
  const url = withDatabase(superuserUrl, database.name)
  await using admin = openDatabase(url, log)
  await admin.pool.query(setting(database.name))
  await using store = openDatabase(url, log)
  expect((await store.pool.query('select 1 as n')).rows).toEqual([{ n: 1 }])
  const failed = Promise.withResolvers<void>()
  const listening = { ...log, debug: () => failed.resolve() } as typeof log
  await using _heartbeat = new Heartbeat({ pool: store.pool, config, holder: 'test', log: listening })
  await failed.promise
  expect(existsSync(join(config.dataDir, HEARTBEAT_FILE))).toBe(false)
})

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'ferry-heartbeat-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}
