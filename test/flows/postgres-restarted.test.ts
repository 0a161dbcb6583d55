import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { JOBS } from '#jobs/index.ts'
import { defineSchedules } from '#jobs/schedules.ts'
import { openQueue } from '#src/cli/queue.ts'
import { readConfig } from '#src/config.ts'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { findPostmaster } from '#src/embedded/server.ts'
import { openFerry } from '#src/ferry.ts'
import { openWorker } from '#src/worker/worker.ts'
import { openCheckedSandbox } from '#test/support/sandbox.ts'
import { waitFor } from '#test/support/wait-for.ts'

const log = pino({ level: 'silent' })
const NEVER = new AbortController().signal

test('a worker goes on by itself once its Postgres is back from a restart', async () => {
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'ferry-test-restart-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o755)
  const { url } = opened.use(await openEmbeddedPostgres({ dataDir, log }))
  const sandbox = opened.use(await openCheckedSandbox())
  const config = readConfig({
    DATABASE_URL: url,
    FERRY_BASE_URL: sandbox.baseUrl,
    FERRY_APP_KEY: sandbox.appKey,
    FERRY_POLL_EVERY: '1s',
  })
  const ferry = opened.use(await openFerry(config, { log, signal: NEVER }))
  const worker = await openWorker(ferry, await openQueue(ferry), {
    jobs: JOBS,
    schedules: defineSchedules(ferry),
  })
  opened.defer(() => worker.drain(5_000))
  await waitFor(() => succeededAfter(url, 0n), { what: 'a first poll' })

  const home = join(dataDir, 'postgres')
  const before = await findPostmaster(home)
  process.kill(before!.pid, 'SIGINT')
  await waitFor(async () => !(await findPostmaster(home)), {
    what: 'Postgres to have stopped',
  })
  opened.use(await openEmbeddedPostgres({ dataDir, log }))
  expect((await findPostmaster(home))?.pid).not.toBe(before!.pid)

  const last = await newestRun(url)
  await waitFor(() => succeededAfter(url, last), { what: 'a poll after the restart' })
  expect(await query(url, 'select count(*)::int as n from ferry.alert_rule_versions')).toEqual([{ n: 40 }])
})

async function succeededAfter(url: string, run: bigint): Promise<boolean> {
  const rows = await query(
    url,
    `select from ferry.sync_runs where status = 'succeeded' and id > ${run} limit 1`,
  )
  return rows.length === 1
}

async function newestRun(url: string): Promise<bigint> {
  const [row] = await query<{ id: string }>(url, 'select max(id) as id from ferry.sync_runs')
  return BigInt(row!.id)
}

/** By a connection of its own, which no restart has broken. */
async function query<Row = unknown>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}
