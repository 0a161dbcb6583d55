import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { accountNames, accountSettings } from './support/accounts.ts'
import type { Figure } from './support/figures.ts'
import type { Bench, Lab } from './support/lab.ts'
import { cleanUpRedis, hasRedis, REDIS_URL } from './support/redis.ts'
import { openWorkerProcess } from './support/worker-process.ts'

const ACCOUNTS = 10

/**
 * How many transactions a worker with ten accounts makes, whose rules are listed every minute and never change: with its
 * queue in Postgres, and in the Redis of FERRY_BENCH_REDIS_URL, at the same time.
 */
export const idleTransactions: Bench = async lab => {
  const sandbox = await lab.openSandbox({})
  const settings = await accountSettings(lab, sandbox, accountNames(ACCOUNTS))
  return Promise.all([
    inAMinute(lab, 'Postgres', settings),
    (await hasRedis())
      ? inAMinute(lab, 'Redis', { ...settings, REDIS_URL })
      : { ...figureOf('Redis'), value: null, missing: `${REDIS_URL} does not answer` },
  ])
}

function figureOf(place: string) {
  return {
    measure: `transactions a minute, ${ACCOUNTS} accounts, queue in ${place}`,
    unit: 'transactions',
  } as const
}

async function inAMinute(lab: Lab, place: string, settings: Record<string, string>): Promise<Figure> {
  const databaseUrl = await lab.openDatabase()
  const client = await lab.connect(databaseUrl)
  const worker = await openWorkerProcess(lab, { DATABASE_URL: databaseUrl, ...settings })
  if (settings.REDIS_URL) await cleanUpRedis(lab, client)
  // The first minute has the first poll of each account, and its first snapshot.
  await Promise.race([delay(lab.size(80_000, 2_000)), worker.ended])
  const before = await committed(client)
  const startedAtMs = performance.now()
  await Promise.race([delay(lab.size(240_000, 5_000)), worker.ended])
  const value = ((await committed(client)) - before) / ((performance.now() - startedAtMs) / 60_000)
  return { ...figureOf(place), value }
}

async function committed(client: Client): Promise<number> {
  const { rows } = await client.query<{ commits: string }>(
    `select xact_commit + xact_rollback as commits from pg_stat_database where datname = current_database()`,
  )
  return Number(rows[0]?.commits)
}
