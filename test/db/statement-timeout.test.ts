import { pino } from 'pino'
import { expect, test } from 'vitest'
import { beginReading, inTransaction, openDatabase, readWithin } from '#src/db/pool.ts'
import { openTestDatabase } from '#test/support/database.ts'

const SLOW = 'select pg_sleep(0.2)'

test('a statement_timeout of the database ends no transaction, only a limit that Ferry sets', async () => {
  await using database = await openTestDatabase()
  const log = pino({ level: 'silent' })
  await using before = openDatabase(database.url, log)
  await before.pool.query(`alter database ${database.name} set statement_timeout = '100ms'`)
  await using opened = openDatabase(database.url, log)
  const { pool } = opened
  await expect(pool.query(SLOW)).rejects.toMatchObject({ code: '57014' })
  await inTransaction(pool, client => client.query(SLOW))
  await expect(readWithin(pool, 50, client => client.query(SLOW))).rejects.toMatchObject({ code: '57014' })
  const client = await pool.connect()
  await client.query(beginReading(pool))
  await client.query(SLOW)
  client.release()
})
