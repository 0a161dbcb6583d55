import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openDatabase, type Reading } from '#src/db/pool.ts'
import { streamRows } from '#src/db/stream-rows.ts'
import { joinReader, prepareReader, READER } from '#src/reports/reader-role.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { dropRole } from '#test/support/roles.ts'

const SILENT = pino({ level: 'silent' })
const DENIED = { code: '42501' }

/** A database with a reader, and a login of its own that may not read as the reader yet. */
async function setup() {
  await using opened = new AsyncDisposableStack()
  const { url, name } = opened.use(await openTestDatabase())
  const { pool } = opened.use(openDatabase(url, SILENT))
  await prepareReader(pool)
  const role = `plain_${name.slice(-8)}`
  await pool.query(`create role ${role} login password 'x'`)
  opened.defer(() => dropRole(pool, role))
  const { rows } = await pool.query<{ isNew: boolean }>(
    `select current_setting('server_version_num')::int >= 160000 as "isNew"`,
  )
  const plainUrl = Object.assign(new URL(url), { username: role, password: 'x' }).href
  const { pool: plain } = opened.use(openDatabase(plainUrl, SILENT, { poolSize: 2 }))
  const kept = opened.move()
  return {
    pool,
    role,
    plain,
    open: (reading: Reading) => kept.use(openDatabase(plainUrl, SILENT, { poolSize: 2, reading })).pool,
    isNew: rows[0]?.isNew ?? false,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

test('a user that may grant the reader becomes a member of it, and one that may not is told so', async () => {
  await using harness = await setup()
  const { pool, plain, role, isNew } = harness
  expect(await joinReader(plain)).toBe(false)
  // Before Postgres 16 whoever may create roles may grant any; after it, whoever has the option.
  await pool.query(
    isNew
      ? `grant ${READER} to ${role} with admin true, inherit false, set false`
      : `alter role ${role} createrole`,
  )
  expect(await joinReader(plain)).toBe(true)
  expect(await joinReader(plain)).toBe(true)
})

test('whoever reads as the reader sees no people, writes nothing, and waits no longer than it says', async () => {
  await using harness = await setup()
  const { pool, plain, role } = harness
  await pool.query(`grant ${READER} to ${role}`)
  await pool.query(`grant all on all tables in schema ferry to ${role}`)
  expect((await plain.query('select count(*) from ferry.import_recipients')).rowCount).toBe(1)
  const reader = harness.open({ role: READER, withinMs: 2_000 })
  expect((await reader.query('select count(*) from ferry.imports')).rowCount).toBe(1)
  const streamed = (sql: string) => Array.fromAsync(streamRows(reader, ({ rows }) => rows, sql, []))
  expect(await streamed('select current_user::text as name')).toEqual([{ name: READER }])
  for (const hidden of ['import_recipients', 'import_rejects', 'installation']) {
    await expect(reader.query(`select * from ferry.${hidden}`)).rejects.toMatchObject(DENIED)
    await expect(streamed(`select * from ferry.${hidden}`)).rejects.toMatchObject(DENIED)
  }
  const asItself = harness.open({ role: null, withinMs: 2_000 })
  for (const readOnly of [reader, asItself]) {
    await expect(readOnly.query(`delete from ferry.schedule_pauses`)).rejects.toThrow()
    await expect(readOnly.query(`select pg_sleep(60)`)).rejects.toMatchObject({ code: '57014' })
  }
  expect((await asItself.query('select * from ferry.import_recipients')).rows).toEqual([])
})
