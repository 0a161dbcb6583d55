import { spawnSync } from 'node:child_process'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { inTransaction, openDatabase } from '#src/db/pool.ts'
import { installation } from '#src/db/schema.ts'
import { openTestDatabase } from '#test/support/database.ts'

const log = pino({ level: 'silent' })

test('Drizzle queries are read committed, on the pool and in a transaction, whatever the database says', async () => {
  await using database = await openTestDatabase()
  await using admin = openDatabase(database.url, log)
  await admin.pool.query(`alter database ${database.name} set default_transaction_isolation = 'serializable'`)
  await using store = openDatabase(database.url, log)
  const show = sql`select current_setting('transaction_isolation') as isolation`
  const outside = await drizzleOf(store.pool).execute(show)
  const inside = await inTransaction(store.pool, client => drizzleOf(client).execute(show))
  expect([...outside.rows, ...inside.rows]).toEqual([
    { isolation: 'read committed' },
    { isolation: 'read committed' },
  ])
})

test('a Drizzle query on a client belongs to its transaction', async () => {
  await using database = await openTestDatabase()
  await using store = openDatabase(database.url, log)
  const failing = inTransaction(store.pool, async client => {
    await drizzleOf(client).insert(installation).values({})
    throw new Error('the work failed')
  })
  await expect(failing).rejects.toThrow('the work failed')
  expect(await drizzleOf(store.pool).select().from(installation)).toEqual([])
})

test('a Drizzle query that fails throws the error of the driver, which does not repeat the parameters', async () => {
  await using database = await openTestDatabase()
  await using store = openDatabase(database.url, log)
  const failing = drizzleOf(store.pool).select().from(installation).where(eq(installation.id, 'a@b.example'))
  const error: unknown = await failing.catch(error => error)
  expect(error).toMatchObject({ code: '22P02' })
  expect(String(error)).not.toContain('params')
})

test('`ferry --help` does not load Drizzle', () => {
  const report = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (/drizzle/.test(name)) process.stderr.write(name)
      return next(name, context)
    } })`)}`
  const { stderr, status } = spawnSync(process.execPath, ['--import', report, 'src/cli/ferry.ts', '--help'])
  expect({ stderr: `${stderr}`, status }).toEqual({ stderr: '', status: 0 })
})

test('what Drizzle is loaded by leaves its ES modules alone, which cost a worker 100 MB', () => {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({ load(url, context, next) {
      if (/drizzle-orm.*[.]js$/.test(url)) process.stderr.write(url + ' ')
      return next(url, context)
    } })
    await import('#src/imports/schema.ts')
    await import('#src/db/drizzle.ts')`
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script])
  expect({ stderr: `${stderr}`, status }).toEqual({ stderr: '', status: 0 })
})
