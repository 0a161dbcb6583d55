import { randomBytes } from 'node:crypto'
import { Client, Pool } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openDatabase } from '#src/db/pool.ts'
import { listLockHolders, loadConnectionFacts } from '#src/db/server-facts.ts'
import { dropRole } from '#test/support/roles.ts'
import { openTestStore } from '#test/support/store.ts'

test('of the limits of the server, the database and the role the least decides how many connections are allowed', async () => {
  await using store = await openTestStore()
  const role = `few_${randomBytes(4).toString('hex')}`
  const database = new URL(store.url).pathname.slice(1)
  await store.pool.query(`create role ${role} login password 'x' connection limit 7`)
  const url = Object.assign(new URL(store.url), { username: role, password: 'x' })
  const ofRole = new Pool({ connectionString: url.href })
  const allowed = async (pool: Pool) => (await loadConnectionFacts(pool)).allowed
  expect(await allowed(store.pool)).toBeGreaterThan(9)
  expect(await allowed(ofRole)).toBe(7)
  await store.pool.query(`alter database ${database} connection limit 9`)
  expect([await allowed(store.pool), await allowed(ofRole)]).toEqual([9, 7])
  await store.pool.query(`alter role ${role} connection limit 20`)
  expect(await allowed(ofRole)).toBe(9)
  await ofRole.end()
  await dropRole(store.pool, role)
})

test('connections with the name that the address gives them are not those of others', async () => {
  await using store = await openTestStore()
  const url = Object.assign(new URL(store.url), { search: '?application_name=reporting' })
  await using named = openDatabase(url.href, pino({ level: 'silent' }))
  const held = await Promise.all(Array.from({ length: 9 }, () => named.pool.connect()))
  const { usedByOthers } = await loadConnectionFacts(named.pool)
  // Other tests come and go.
  expect((await loadConnectionFacts(store.pool)).usedByOthers - usedByOthers).toBeGreaterThan(4)
  for (const client of held) client.release()
})

test('a session whose role was dropped meanwhile is among those that hold locks, under its number', async () => {
  await using store = await openTestStore()
  const role = `gone_${randomBytes(4).toString('hex')}`
  await store.pool.query(`create role ${role} login password 'x'`)
  await store.pool.query(`grant usage on schema ferry to ${role}; grant select on ferry.workers to ${role}`)
  const { rows } = await store.pool.query('select oid from pg_roles where rolname = $1', [role])
  const url = Object.assign(new URL(store.url), { username: role, password: 'x' })
  const client = new Client({ connectionString: url.href })
  await client.connect()
  await client.query('begin; select from ferry.workers')
  await dropRole(store.pool, role)
  const holders = await listLockHolders(store.pool)
  await client.end()
  expect(holders).toMatchObject([{ user: `unknown, number ${rows[0].oid}` }])
})
