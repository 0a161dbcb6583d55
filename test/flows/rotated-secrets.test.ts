import { randomBytes } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { onServer, openTestDatabase } from '#test/support/database.ts'
import { type Chaos, go, kill, openChaos, report, someCallsMore } from '#test/support/import-chaos.ts'
import { hasRedisServer, startRedis } from '#test/support/own-redis.ts'
import { fileHolding } from '#test/support/settings.ts'
import { waitFor } from '#test/support/wait-for.ts'

/* Each secret is rotated under workers that send imports: nothing is lost, nothing is sent twice, no worker is restarted. */

const TIMES = 3
/** How long a server and its file differ, as while an agent writes the new one. */
const APART_MS = 1_500

async function startWorkers(chaos: Chaos) {
  const workers = await Promise.all([chaos.startWorker(), chaos.startWorker()])
  workers.forEach(go)
  return workers
}

async function expectNothingLost(chaos: Chaos, workers: Awaited<ReturnType<typeof startWorkers>>) {
  await chaos.allEnded()
  const { wrong, ...counts } = await chaos.verdict()
  report(counts)
  expect(wrong).toEqual([])
  expect(counts).toMatchObject({ deliveredAgain: 0, deliveries: counts.recipients })
  expect(workers.map(worker => worker.exitCode)).toEqual([null, null])
  await Promise.all(workers.map(kill))
}

/** As an agent does: the file always holds a whole secret. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

test('the password of the database, in the file first or in the server first', async () => {
  const { superuserUrl } = inject('database')
  const role = `ferry_test_${randomBytes(4).toString('hex')}`
  await onServer(superuserUrl, `create role ${role} superuser login password 'first'`)
  const path = fileHolding('first')
  {
    await using database = await openTestDatabase()
    const url = Object.assign(new URL(database.url), { username: role, password: '' })
    const settings = { DATABASE_URL: url.href, DATABASE_PASSWORD_FILE: path, REDIS_URL: '' }
    await using chaos = await openChaos(database.url, { settings })
    for (let staged = 0; staged < 20; staged++) await chaos.stage()
    const workers = await startWorkers(chaos)
    for (let time = 0; time < TIMES; time++) {
      await someCallsMore(chaos, 10)
      const next = `${time} p@ss`
      const steps = [
        () => onServer(superuserUrl, `alter role ${role} password '${next}'`),
        async () => replace(path, next),
      ]
      for (const step of time % 2 === 0 ? steps : steps.toReversed()) {
        await step()
        await onServer(
          superuserUrl,
          `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}' and random() < 0.7`,
        )
        await delay(APART_MS)
      }
    }
    await expectNothingLost(chaos, workers)
  }
  await onServer(superuserUrl, `drop role ${role}`)
})

test.skipIf(!hasRedisServer)('the password of Redis', async () => {
  await using redis = await startRedis()
  await redis.admin.config('SET', 'requirepass', 'first')
  const path = fileHolding('first')
  await using database = await openTestDatabase()
  const settings = { REDIS_URL: redis.url, REDIS_PASSWORD_FILE: path }
  await using chaos = await openChaos(database.url, { settings })
  for (let staged = 0; staged < 20; staged++) await chaos.stage()
  const workers = await startWorkers(chaos)
  for (let time = 0; time < TIMES; time++) {
    await someCallsMore(chaos, 10)
    await redis.admin.config('SET', 'requirepass', `${time} p@ss`)
    await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'normal')
    await delay(APART_MS)
    replace(path, `${time} p@ss`)
  }
  // Besides the test's own: those of the queues, in both workers.
  await waitFor(async () => (await connectionsOf(redis.admin)) > 8, { what: 'the workers to be let in' })
  await chaos.stage()
  await expectNothingLost(chaos, workers)
})

async function connectionsOf(admin: Awaited<ReturnType<typeof startRedis>>['admin']): Promise<number> {
  return String(await admin.client('LIST')).match(/ age=/g)?.length ?? 0
}

test('the app_keys of several accounts, each revoked once the new one is used', async () => {
  const paths = { default: fileHolding(''), second: fileHolding('') }
  await using database = await openTestDatabase()
  const file = fileHolding('')
  await using chaos = await openChaos(database.url, {
    settings: { FERRY_BASE_URL: '', FERRY_APP_KEY: '', FERRY_ACCOUNTS_FILE: file },
  })
  const { state, baseUrl } = chaos.sandbox
  const accountIds = { default: 1n, second: 2n }
  const entries = Object.entries(paths) as ['default' | 'second', string][]
  for (const [name, path] of entries) {
    writeFileSync(path, state.addKey({ key: `${name}-key`, accountId: accountIds[name] }).key)
  }
  writeFileSync(
    file,
    JSON.stringify({ accounts: entries.map(([name, path]) => ({ name, baseUrl, appKeyFile: path })) }),
  )
  for (let staged = 0; staged < 14; staged++) for (const [account] of entries) await chaos.stage({ account })
  const workers = await startWorkers(chaos)
  for (let time = 0; time < TIMES; time++) {
    for (const [name, path] of entries) {
      const key = `${name} key ${time}`.replaceAll(' ', '-')
      const [before] = [...state.keys.values()].filter(({ accountId }) => accountId === accountIds[name])
      state.addKey({ key, accountId: accountIds[name] })
      replace(path, key)
      const used = () => state.received.filter(({ accountId }) => accountId === accountIds[name]).slice(-6)
      await waitFor(() => used().every(({ appKey }) => appKey === key), { what: `${key} to be used` })
      state.keys.delete(before!.key)
    }
  }
  expect(state.received.filter(({ code }) => code === 'Unauthorized')).toEqual([])
  await expectNothingLost(chaos, workers)
})
