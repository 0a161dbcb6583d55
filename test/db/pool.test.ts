import { pino } from 'pino'
import { expect, test } from 'vitest'
import { answeringWithin, openDatabase } from '#src/db/pool.ts'
import { openTestDatabase } from '#test/support/database.ts'

test('a connection whose statement did not end in time is not used again: it may still be busy with it', async () => {
  await using database = await openTestDatabase()
  await using only = openDatabase(database.url, pino({ level: 'silent' }), { poolSize: 1 })
  const pid = async () =>
    (await only.pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  const before = await pid()
  await expect(answeringWithin(only.pool, 50).query('select pg_sleep(2)')).rejects.toThrow(/timeout/i)
  expect(await pid()).not.toBe(before)
})
