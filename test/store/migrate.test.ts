import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { DatabaseIsNewer, migrate } from '#src/store/migrate.ts'
import { onServer, withDatabase } from '#test/support/database.ts'
import { openTestStore } from '#test/support/store.ts'

test('four processes that migrate an empty database at once leave it migrated once', async () => {
  const { serverUrl, template } = inject('database')
  const name = `${template}_migrate`
  await onServer(serverUrl, `create database ${name}`)
  try {
    const url = withDatabase(serverUrl, name)
    const script = fileURLToPath(new URL('migrate-process.ts', import.meta.url))
    const processes = Array.from({ length: 4 }, () => fork(script, [url], { stdio: 'pipe' }))
    const codes = await Promise.all(processes.map(async child => (await once(child, 'exit'))[0]))
    expect(codes).toEqual([0, 0, 0, 0])
    expect(await migrate(url)).toBe(0)
    const client = new Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(
      'select created_at, count(*)::int as times from ferry.migrations group by 1',
    )
    await client.end()
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.every(row => row.times === 1)).toBe(true)
  } finally {
    await onServer(serverUrl, `drop database ${name} with (force)`)
  }
})

test('a database that a newer Ferry migrated is refused in words, and left as it is', async () => {
  await using store = await openTestStore()
  await store.pool.query(
    "insert into ferry.migrations (hash, created_at) values ('of the future', 9999999999999)",
  )
  await expect(migrate(store.url)).rejects.toThrow(DatabaseIsNewer)
  await expect(migrate(store.url)).rejects.toThrow(/newer Ferry/)
})

test('a migrated database is checked without any right to create', async () => {
  await using store = await openTestStore()
  const role = `reader_${Date.now()}`
  await store.pool.query(`create role ${role} login password 'p'; grant usage on schema ferry to ${role};
    grant select on ferry.migrations to ${role}`)
  try {
    const url = new URL(store.url)
    url.username = role
    url.password = 'p'
    expect(await migrate(url.href)).toBe(0)
  } finally {
    await store.pool.query(`drop owned by ${role}; drop role ${role}`)
  }
})
