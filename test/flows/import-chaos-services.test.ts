import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { findPostmaster } from '#src/embedded/server.ts'
import { between, seededRandom } from '#src/sandbox/random.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { type Chaos, go, kill, openChaos, report, someCallsMore } from '#test/support/import-chaos.ts'
import { testRedisUrl } from '#test/support/redis.ts'
import { waitFor } from '#test/support/wait-for.ts'

const SEED = Number(process.env.FERRY_TEST_SEED ?? 1)

test('a Postgres restarted, and one that crashed, in the middle of imports costs nobody', async () => {
  const random = seededRandom(SEED)
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'ferry-test-chaos-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o755)
  const log = pino({ level: 'silent' })
  const { url } = opened.use(await openEmbeddedPostgres({ dataDir, log }))
  await migrate(url)
  const chaos = opened.use(await openChaos(url))
  for (let staged = 0; staged < 20; staged++) await chaos.stage()
  const worker = await chaos.startWorker()
  go(worker)
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    await someCallsMore(chaos, between(random, 5, 25))
    await stopPostgres(dataDir, signal)
    opened.use(await openEmbeddedPostgres({ dataDir, log }))
  }
  await chaos.allEnded()
  const { wrong, ...counts } = await chaos.verdict()
  report({ seed: SEED, restarts: 2, ...counts })
  expect(worker.exitCode).toBeNull()
  expect(wrong).toEqual([])
  await kill(worker)
})

test("workers whose connections are cut over and over lose nobody, and don't give up", async () => {
  const random = seededRandom(SEED)
  await using database = await openTestDatabase()
  await using chaos = await openChaos(database.url)
  const workers = await beginWith(chaos)
  let cut = 0
  while ((await chaos.unfinished()) > 8) {
    await delay(between(random, 300, 1_500))
    const { rowCount } = await chaos.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name like 'ferry%'
         and random() < 0.5`,
    )
    cut += rowCount ?? 0
  }
  await chaos.allEnded()
  const { wrong, ...counts } = await chaos.verdict()
  report({ seed: SEED, connectionsCut: cut, ...counts })
  expect(wrong).toEqual([])
  expect(cut).toBeGreaterThan(0)
  expect(workers.map(worker => worker.exitCode)).toEqual([null, null])
  await Promise.all(workers.map(kill))
})

test.skipIf(!testRedisUrl)('a Redis wiped again and again forgets no import', async () => {
  const random = seededRandom(SEED)
  await using database = await openTestDatabase()
  await using chaos = await openChaos(database.url)
  const workers = await beginWith(chaos)
  const client = new Redis(chaos.redisUrl!)
  let wiped = 0
  while ((await chaos.unfinished()) > 0) {
    await delay(between(random, 200, 1_500))
    await client.flushdb()
    wiped += 1
  }
  await client.quit()
  const { wrong, ...counts } = await chaos.verdict()
  report({ seed: SEED, wiped, ...counts })
  expect(wrong).toEqual([])
  expect(counts.deliveredAgain).toBe(0)
  await Promise.all(workers.map(kill))
})

/** Stages twenty imports, and starts two workers on them. */
async function beginWith(chaos: Chaos) {
  for (let staged = 0; staged < 20; staged++) await chaos.stage()
  const workers = await Promise.all([chaos.startWorker(), chaos.startWorker()])
  workers.forEach(go)
  return workers
}

/** SIGINT is an orderly stop, SIGQUIT is what a crash leaves. */
async function stopPostgres(dataDir: string, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  const home = join(dataDir, 'postgres')
  const server = await findPostmaster(home)
  process.kill(server!.pid, signal)
  await waitFor(async () => !(await findPostmaster(home)), {
    what: 'Postgres to have stopped',
  })
}
