import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { inTransaction, openDatabase } from '#src/db/pool.ts'
import { readMigrations } from '#src/db/run-migrations.ts'
import { listSummaryRows } from '#src/imports/reporting/summary.ts'
import { listRuns } from '#src/inventory/runs/list-runs.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { jsonLines, runFerry, startFerry } from '#test/cli/run-ferry.ts'
import { onServer, withDatabase } from '#test/support/database.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { hasPgBouncer, openPgBouncer } from '#test/support/pgbouncer.ts'
import { openTestRedis, testRedisUrl } from '#test/support/redis.ts'
import { waitFor } from '#test/support/wait-for.ts'

/* Skipped where no PgBouncer is installed. */

/** The command that imports so many people. */
function importing(count: number): string[] {
  const how = ['--all', '--default-locale', 'en-US', '--batch', '100', '--yes', '--json']
  return ['import', people(count), '--page', `${SANDBOX_PAGE_ID}`, ...how]
}

function envOf(harness: FerryHarness, databaseUrl: string) {
  return {
    DATABASE_URL: databaseUrl,
    FERRY_DATA_DIR: join(tmpdir(), `ferry-pgbouncer-nowhere-${process.pid}`),
    FERRY_BASE_URL: harness.sandbox.baseUrl,
    FERRY_APP_KEY: harness.sandbox.appKey,
    FERRY_POLL_EVERY: '1s',
    FERRY_IMPORT_LIMIT: '20/1s',
  }
}

async function hasPolledTwice(harness: FerryHarness): Promise<boolean> {
  return (await listRuns(harness.ferry.pool, 2, { status: 'succeeded' })).length === 2
}

function people(count: number): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-pgbouncer-people-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const rows = Array.from({ length: count }, (_, n) => `p${n}@example.com`)
  const path = join(directory, 'people.csv')
  writeFileSync(path, ['email', ...rows, 'p0@example.com'].join('\n'))
  return path
}

describe.skipIf(!hasPgBouncer)('behind PgBouncer', () => {
  test('that pools transactions, an empty database is migrated by many at once, and each ends', async () => {
    const { serverUrl, template } = inject('database')
    const name = `${template}_${randomBytes(4).toString('hex')}`
    await onServer(serverUrl, `create database ${name}`)
    try {
      await using pooler = await openPgBouncer(serverUrl, 'transaction', { default_pool_size: '2' })
      const env = {
        DATABASE_URL: pooler.through(withDatabase(serverUrl, name)),
        REDIS_URL: 'redis://127.0.0.1:9',
      }
      const first = await Promise.all(Array.from({ length: 4 }, () => runFerry(['migrate', '--json'], env)))
      expect(first.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        Array(4).fill({ code: 0, stderr: '' }),
      )
      // Each migration was run once, by whoever came first.
      const ran = first.reduce((sum, ended) => sum + Number(jsonLines(ended)[0]?.migrations), 0)
      expect(ran).toBe((await readMigrations()).length)
      expect((await runFerry(['runs', 'list'], env)).code).toBe(0)
    } finally {
      await onServer(serverUrl, `drop database ${name} with (force)`)
    }
  })

  test.each(['transaction', 'session'] as const)('that pools by %s, syncs and imports work', async mode => {
    await using harness = await openFerryHarness({ rules: 500, servers: 30 })
    await using pooler = await openPgBouncer(harness.databaseUrl, mode)
    const env = envOf(harness, pooler.through(harness.databaseUrl))
    const sync = await runFerry(['sync', 'all', '--json'], env)
    expect(sync).toMatchObject({ code: 0, stderr: '' })
    expect(jsonLines(sync)).toMatchObject([{ added: 500 }, { added: 30 }])
    const imported = await runFerry([...importing(2_000), '--wait'], env)
    expect(jsonLines(imported).at(-1)).toMatchObject({ status: 'completed', sent: 2_000, duplicate: 1 })
  })

  test('that has one connection, a statement is not ended while the server works on it, though nobody can ask it', async () => {
    await using harness = await openFerryHarness()
    await using pooler = await openPgBouncer(harness.databaseUrl, 'transaction', { default_pool_size: '1' })
    await using narrow = openDatabase(pooler.through(harness.databaseUrl), pino({ level: 'silent' }))
    const { rowCount } = await inTransaction(narrow.pool, client => client.query('select pg_sleep(30)'))
    expect(rowCount).toBe(1)
  })

  test.skipIf(!testRedisUrl)('that pools transactions, a worker with its queue in Redis works', async () => {
    await using harness = await openFerryHarness({ rules: 50 })
    await using redis = await openTestRedis()
    await using pooler = await openPgBouncer(harness.databaseUrl, 'transaction')
    const env = { ...envOf(harness, pooler.through(harness.databaseUrl)), REDIS_URL: redis.url }
    await using worker = startFerry(['worker', '--json'], env)
    await worker.printed('"queue":"redis"')
    const queued = await runFerry(importing(300), env)
    expect(queued.code).toBe(0)
    const done = async () => {
      const completed = await listSummaryRows(harness.ferry.pool, 1, { status: 'completed' })
      return completed.length === 1 && (await hasPolledTwice(harness))
    }
    await waitFor(done, { what: 'two polls and the import' })
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })

  test.each([
    ['session', {}, 'unsupported startup parameter: options'],
    ['session', { ignore_startup_parameters: 'options' }, 'drops the startup settings'],
    ['transaction', { ignore_startup_parameters: 'options' }, 'drops the startup settings'],
  ] as const)(
    'that pools by %s (%j), a queue in Postgres is refused by name',
    async (mode, settings, why) => {
      await using harness = await openFerryHarness()
      await using pooler = await openPgBouncer(harness.databaseUrl, mode, settings)
      const ended = await runFerry(['worker'], envOf(harness, pooler.through(harness.databaseUrl)))
      expect(ended.code).toBe(1)
      expect(ended.stderr).toContain('does not work through the connection pooler')
      expect(ended.stderr).toContain(why)
      expect(ended.stderr).toContain('Set REDIS_URL')
      expect(ended.stderr).not.toMatch(/report|went away/)
    },
  )

  test('that drops the settings of a session, a queue in Postgres works if the database has them and sessions are pooled', async () => {
    await using harness = await openFerryHarness()
    const settings = { ignore_startup_parameters: 'options' }
    const [database] = await harness.query('select current_database() as name')
    await harness.query(`alter database ${database?.name} set search_path = ferry_queue`)

    await using transactions = await openPgBouncer(harness.databaseUrl, 'transaction', settings)
    const refused = await runFerry(['worker'], envOf(harness, transactions.through(harness.databaseUrl)))
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('loses notifications') })

    await using sessions = await openPgBouncer(harness.databaseUrl, 'session', settings)
    await using worker = startFerry(
      ['worker', '--json'],
      envOf(harness, sessions.through(harness.databaseUrl)),
    )
    await worker.printed('"queue":"postgres"')
    await waitFor(() => hasPolledTwice(harness), { what: 'two polls' })
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })
})
