import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { migrateQueue } from '#src/queue/backend.ts'
import { blocksOf, readPage, sectionOf } from '#test/docs/pages.ts'
import { ask, openEmbeddedHarness } from '#test/embedded/embedded-harness.ts'
import { withDatabase } from '#test/support/database.ts'
import { superuserUrlOf } from '#test/support/server.ts'

const file = readFileSync(new URL('../../integrations/postgres/owner.sql', import.meta.url), 'utf8')
/** The role and the database of the file, which exist on an embedded server, by another name. */
const script = file.replaceAll(/\bferry\b/g, 'composed')
const hasPsql = spawnSync('psql', ['--version']).status === 0

test.skipIf(!hasPsql)(
  'the database of the compose file belongs to a role that is no superuser, and Ferry migrates it',
  async () => {
    await using place = await openEmbeddedHarness()
    await using postgres = await place.open()
    const superuser = withDatabase(await superuserUrlOf(place.dataDir, postgres.url), 'postgres')
    await ask(superuser, `create role postgres superuser login password 'first'`)

    const asPostgres = Object.assign(new URL(superuser), { username: 'postgres', password: 'first' }).href
    const ran = spawnSync('psql', ['--set=ON_ERROR_STOP=1', '--no-psqlrc', asPostgres], {
      input: script,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, POSTGRES_PASSWORD: `it's "secret"` },
    })
    expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' })

    const url = new URL(withDatabase(superuser, 'composed'))
    url.username = 'composed'
    url.password = encodeURIComponent(`it's "secret"`)
    expect(await migrate(url.href)).toBeGreaterThan(0)
    await migrateQueue({ databaseUrl: url.href, redisUrl: null })
    expect(await ask(url.href, `select current_setting('is_superuser')`)).toBe('off')
    expect(await ask(url.href, `select current_setting('wal_compression')`)).toBe('pglz')
    await ask(url.href, `create role grafana login password 'x'`)
    const reader = Object.assign(new URL(url.href), { username: 'grafana', password: 'x' }).href
    await expect(ask(reader, 'select pg_try_advisory_lock(1)')).rejects.toMatchObject({ code: '42501' })
    await expect(ask(asPostgres, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  },
)

test('the compose file gives that file to Postgres, and names its role', () => {
  const compose = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8')
  expect(compose).toContain('./integrations/postgres/owner.sql:/docker-entrypoint-initdb.d/owner.sql:ro')
  expect(compose).toContain('DATABASE_URL: postgres://ferry@postgres/ferry')
  expect(compose).not.toMatch(/POSTGRES_(USER|DB):/)
})

test('for a Postgres of their own, operators get the same statements', () => {
  const section = sectionOf(readPage('docs/operators.md'), 'The role that Ferry works as')
  const blocks = blocksOf(section, 'sql').map(block => block.trim())
  expect(blocks).toHaveLength(3)
  // They give the role its password with psql.
  for (const block of blocks) expect(file.replace(` password :'password'`, '')).toContain(block)
})
