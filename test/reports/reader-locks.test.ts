import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, inject, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { openDatabase } from '#src/db/pool.ts'
import { MIGRATION_LOCK } from '#src/db/run-migrations.ts'
import { migrateQueue } from '#src/queue/backend.ts'
import { prepareReader } from '#src/reports/reader-role.ts'
import { onServer, openTestDatabase, withDatabase } from '#test/support/database.ts'
import { connectMember, createMember } from './member.ts'

const SILENT = pino({ level: 'silent' })

/** Keys of locks that a reader may find in Ferry's sources: of earlier versions, the letters "ferry" and "readr". */
const GUESSED = ['0x6665727279', '0x7265616472'].map(key => `select pg_advisory_lock(${Number(key)})`)

const STRONGER = [
  'row share',
  'row exclusive',
  'share update exclusive',
  'share',
  'share row exclusive',
  'exclusive',
  'access exclusive',
]

test('a reader who holds every lock that he can get keeps nobody from starting or from giving rights', async () => {
  await using opened = new AsyncDisposableStack()
  const { url } = opened.use(await openTestDatabase())
  const { pool } = opened.use(openDatabase(url, SILENT))
  await prepareReader(pool)
  await migrateQueue({ databaseUrl: url, redisUrl: null })
  const reader = await connectMember(opened, { url, pool })
  const { rows: relations } = await reader.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace::regnamespace::text in ('ferry', 'ferry_internal')
     and relkind in ('r', 'v') and has_any_column_privilege(oid, 'select')`,
  )
  expect(relations.length).toBeGreaterThan(40)

  await reader.query('begin')
  for (const key of GUESSED) await reader.query(key)
  let held = 0
  for (const { name } of relations) {
    await reader.query('savepoint one')
    // Of a table of which he may read some columns only, he may lock nothing.
    const isHeld = await reader.query(`lock table ${name} in access share mode`).then(
      () => true,
      () => false,
    )
    if (isHeld) held += 1
    else await reader.query('rollback to savepoint one')
    for (const mode of STRONGER) {
      await reader.query('savepoint one')
      await expect(
        reader.query(`lock table ${name} in ${mode} mode nowait`),
        `${name} ${mode}`,
      ).rejects.toMatchObject({
        code: '42501',
      })
      await reader.query('rollback to savepoint one')
    }
  }
  expect(held).toBeGreaterThan(40)

  expect(await migrate(url)).toBe(0)
  await migrateQueue({ databaseUrl: url, redisUrl: null })
  await pool.query(`begin; set local lock_timeout = '2s'; ${MIGRATION_LOCK}; commit`)
  await pool.query('grant select on ferry.installation to ferry_reader')
  expect(await prepareReader(pool)).toEqual({ status: 'ready' })
})

test('nor does he keep anybody from migrating an empty database', async () => {
  await using opened = new AsyncDisposableStack()
  const { serverUrl } = inject('database')
  const name = `ferry_locks_${randomBytes(4).toString('hex')}`
  await onServer(serverUrl, `create database ${name}`)
  opened.defer(() => onServer(serverUrl, `drop database ${name} with (force)`))
  const url = withDatabase(serverUrl, name)
  const { pool } = opened.use(openDatabase(url, SILENT))
  await pool.query(`do $$ begin create role ferry_reader; exception when duplicate_object then end $$`)
  const reader = new Client({ connectionString: await createMember(opened, { url, pool }) })
  await reader.connect()
  opened.defer(() => reader.end())
  for (const key of GUESSED) await reader.query(key)
  expect(await migrate(url, 'update', { waitMs: 2_000 })).toBeGreaterThan(0)
  expect(await prepareReader(pool)).toEqual({ status: 'ready' })
})

test('one who holds the lock of the queue is named by his number', async () => {
  await using opened = new AsyncDisposableStack()
  const { url } = opened.use(await openTestDatabase())
  const { pool } = opened.use(openDatabase(url, SILENT))
  await prepareReader(pool)
  const reader = await connectMember(opened, { url, pool })
  // What BullMQ itself takes (MIGRATION_ADVISORY_LOCK_KEY).
  await reader.query(`select pg_advisory_lock(1112886348, hashtext('ferry_queue'))`)
  const { rows } = await reader.query('select pg_backend_pid() as pid')
  await expect(migrateQueue({ databaseUrl: url, redisUrl: null })).rejects.toMatchObject({
    name: 'QueueRefused',
    message: expect.stringContaining(`hold such a lock now: ${rows[0].pid}.`),
  })
})
