import { pino } from 'pino'
import { expect, test } from 'vitest'
import { answeringWithin, asTransactions, inTransaction, openDatabase, readWithin } from '#src/db/pool.ts'
import type { WatchedClient } from '#src/db/watched-client.ts'
import { joinReader, prepareReader, READER } from '#src/reports/reader-role.ts'
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

test('whatever reads on a pool for readers does so as their role, writes nothing, and ends in time', async () => {
  await using database = await openTestDatabase()
  const log = pino({ level: 'silent' })
  await using own = openDatabase(database.url, log)
  await prepareReader(own.pool)
  await joinReader(own.pool)
  await using readers = openDatabase(database.url, log, { reading: { role: READER, withinMs: 7_000 } })
  const HOW = `select current_user as role, current_setting('transaction_read_only') as "readOnly",
    current_setting('transaction_isolation') as level, current_setting('statement_timeout') as within,
    current_setting('idle_in_transaction_session_timeout') as idle, current_setting('jit') as jit`
  const reading = {
    role: READER,
    readOnly: 'on',
    level: 'read committed',
    within: '7s',
    idle: '1min',
    jit: 'off',
  }
  const { pool } = readers
  expect((await pool.query(HOW)).rows).toEqual([reading])
  expect((await asTransactions(pool).query(HOW)).rows).toEqual([reading])
  expect((await inTransaction(pool, client => client.query(HOW))).rows).toEqual([reading])
  const shorter = await readWithin(pool, 1_500.4, client => client.query(HOW))
  expect(shorter.rows).toEqual([{ ...reading, within: '1500ms' }])
  const asOwner = await readWithin(own.pool, 1_500.4, client => client.query(HOW))
  expect(asOwner.rows).toMatchObject([{ readOnly: 'on', within: '1500ms' }])
})

test('a connection has the facts of the transaction that is open on it, and none once that has ended in any way', async () => {
  await using database = await openTestDatabase()
  await using only = openDatabase(database.url, pino({ level: 'silent' }), { poolSize: 1 })
  const factsAfter = async (last: string) => {
    let watched: unknown
    const work = inTransaction(only.pool, async client => {
      watched = client
      const { rows } = await client.query('select pg_backend_pid() as pid, now()::text as began')
      expect(client).toMatchObject({ transaction: rows[0] })
      await client.query(last)
    })
    await work.catch(() => {})
    return (watched as WatchedClient).transaction
  }
  expect(await factsAfter('select 1')).toBeNull()
  expect(await factsAfter('select 1 / 0')).toBeNull()
})

test('a transaction that writes ends what would block others for ever, whatever the database has set', async ({
  skip,
}) => {
  await using database = await openTestDatabase()
  await using own = openDatabase(database.url, pino({ level: 'silent' }))
  const name = new URL(database.url).pathname.slice(1)
  await own.pool.query(`alter database ${name} set statement_timeout = '1h'`)
  await own.pool.query(`alter database ${name} set default_transaction_isolation = 'serializable'`)
  await using later = openDatabase(database.url, pino({ level: 'silent' }))
  const { rows: server } = await own.pool.query(`select version() ~ 'linux' as "isLinux"`)
  skip(!server[0].isLinux, 'only Linux lets Postgres notice a connection that is gone')
  const HOW = `select current_setting('transaction_isolation') as level, current_setting('lock_timeout') as lock,
    current_setting('idle_in_transaction_session_timeout') as idle, current_setting('statement_timeout') as statement,
    current_setting('client_connection_check_interval') as checked, current_setting('tcp_keepalives_idle') as "keepsAlive",
    current_setting('tcp_keepalives_interval') as every, current_setting('tcp_keepalives_count') as times,
    current_setting('tcp_user_timeout') as unanswered`
  const limits = {
    level: 'read committed',
    lock: '1min',
    idle: '1min',
    statement: '0',
    checked: '10s',
    keepsAlive: '10',
    every: '5',
    times: '3',
    // Postgres 15 says it in milliseconds.
    unanswered: expect.stringMatching(/^(30s|30000)$/),
  }
  const inside = await inTransaction(later.pool, client => client.query(HOW))
  expect(inside.rows).toEqual([limits])
  expect((await asTransactions(later.pool).query(HOW)).rows).toEqual([limits])
})

test('a transaction that only reads has the facts of it too, for whoever must end it', async () => {
  await using database = await openTestDatabase()
  const reading = { role: null, withinMs: 7_000 }
  await using readers = openDatabase(database.url, pino({ level: 'silent' }), { poolSize: 1, reading })
  await inTransaction(readers.pool, async client => {
    const { rows } = await client.query('select pg_backend_pid() as pid, now()::text as began')
    expect(client).toMatchObject({ transaction: rows[0] })
  })
})
