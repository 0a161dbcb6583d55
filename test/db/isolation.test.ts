import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createThrottle } from '#src/db/call-log.ts'
import { OwnCall } from '#src/db/known-database.ts'
import { inTransaction, openDatabase } from '#src/db/pool.ts'
import { answeredNow } from '#test/support/answered-now.ts'
import { openTestDatabase } from '#test/support/database.ts'

const log = pino({ level: 'silent' })

test.each(['repeatable read', 'serializable'])(
  'the throttle stays exact on a database whose default is %s',
  async isolation => {
    await using database = await openTestDatabase()
    await using first = openDatabase(database.url, log)
    await first.pool.query(
      `alter database ${database.name} set default_transaction_isolation = '${isolation}'`,
    )
    await first.pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {})

    const limit = { limitKey: 'a', windows: [{ maxCalls: 2, windowMs: 1_000 }] }
    const stop = new AbortController()
    const workers = Array.from({ length: 8 }, () => openDatabase(database.url, log))
    const calls = workers.map(async ({ pool }) => {
      const throttle = createThrottle(pool, {
        limitOf: () => limit,
        arrivalBoundMs: 5_000,
        ownCall: new OwnCall(),
        noticeDatabase: async () => null,
      })
      while (!stop.signal.aborted) {
        const permit = await throttle.acquirePermit(
          { account: 'a', operation: 'list-alert-rules', runId: null },
          stop.signal,
        )
        await throttle.finishCall(permit, answeredNow())
      }
    })
    await delay(6_000)
    stop.abort()
    await Promise.allSettled(calls)
    await Promise.all(workers.map(worker => worker[Symbol.asyncDispose]()))

    const { rows } = await first.pool.query(
      `select count(*)::int as calls, max((select count(*) from ferry.platform_calls o
       where o.started > c.started - interval '1 s' and o.started <= c.started))::int as most from ferry.platform_calls c`,
    )
    expect(rows[0].most).toBeLessThanOrEqual(2)
    expect(rows[0].calls).toBeGreaterThan(4)
  },
)

test('every statement and every transaction is read committed, whatever the default of the database is', async () => {
  await using database = await openTestDatabase()
  await using admin = openDatabase(database.url, log)
  await admin.pool.query(`alter database ${database.name} set default_transaction_isolation = 'serializable'`)
  await using store = openDatabase(database.url, log)
  const show = "select current_setting('transaction_isolation') as isolation, $1::int as n"
  expect((await store.pool.query(show, [1])).rows).toEqual([{ isolation: 'read committed', n: 1 }])
  const inside = await inTransaction(store.pool, client => client.query(show, [2]))
  expect(inside.rows).toEqual([{ isolation: 'read committed', n: 2 }])
})
