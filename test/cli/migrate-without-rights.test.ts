import { expect, test } from 'vitest'
import { openEmptyDatabase } from '#test/support/database.ts'
import { dropRole } from '#test/support/roles.ts'
import { accountsFile } from './open-cli.ts'
import { runFerryHere } from './run-ferry.ts'

const ROLE = 'ferry_test_no_createrole'

/** An empty database of a role that can create no other. */
async function openOwned() {
  await using opened = new AsyncDisposableStack()
  const { url, client } = opened.use(await openEmptyDatabase())
  await client.query(`create role ${ROLE} login password 'p'`)
  opened.defer(() => dropRole({ query: statement => client.query(statement) }, ROLE))
  await client.query(`grant create on database ${new URL(url).pathname.slice(1)} to ${ROLE}`)
  const owned = Object.assign(new URL(url), { username: ROLE, password: 'p' })
  const accounts = accountsFile({ name: 'unread', baseUrl: 'http://127.0.0.1:1', appKeyEnv: 'KEY' })
  const env = { DATABASE_URL: owned.href, FERRY_ACCOUNTS_FILE: accounts, KEY: 'k' }
  const kept = opened.move()
  return {
    client,
    migrate: (...args: readonly string[]) => runFerryHere(['migrate', ...args], env),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

test('who cannot create the role of an account gets the statements for somebody who can, and all else is done', async () => {
  await using owned = await openOwned()
  const plan = await owned.migrate('--plan')
  expect(plan).toMatchObject({ code: 0, stderr: '' })
  expect(plan.stdout).toMatch(
    /^\S+: \d+ statements\n {2}Creates all tables\. Locks nothing: there is nothing yet\.\n/,
  )

  const first = await owned.migrate('--reader-of', 'unread')
  expect(first.code).toBe(1)
  expect(first.stdout).toMatch(/^\d+ migrations? ran\.\n/)
  expect(first.stderr).toContain('ferry: this role cannot create the role ferry_reader_unread and its schema')
  expect(first.stderr).toContain('Run this as a superuser')
  expect(first.stdout).toMatch(/^do 'begin create role "ferry_reader_unread" nologin;/m)

  const second = await owned.migrate('--json', '--reader-of', 'unread')
  expect(second.code).toBe(1)
  expect(JSON.parse(second.stdout)).toMatchObject({
    migrations: 0,
    readersOf: [
      {
        account: 'unread',
        role: 'ferry_reader_unread',
        status: 'refused',
        sql: expect.arrayContaining([expect.stringContaining('create role "ferry_reader_unread"')]),
      },
    ],
  })
  expect(await owned.migrate('--plan')).toMatchObject({
    code: 0,
    stdout: 'The database is up to date: nothing to do.\n',
  })
  expect(await owned.migrate('--reader-of', 'nobody')).toMatchObject({ code: 2 })
})

test('a queue whose tables cannot be made fails the migration, but for those of Ferry; once they can, they are there', async () => {
  await using owned = await openOwned()
  await owned.client.query('create schema ferry_queue')
  expect(await owned.migrate()).toEqual({
    code: 1,
    signal: null,
    stdout: '',
    stderr: expect.stringMatching(
      /^ferry: permission denied for schema ferry_queue\nRun `ferry migrate` as the owner of the tables, /,
    ),
  })
  expect((await owned.migrate('--plan')).stdout).toBe('The database is up to date: nothing to do.\n')

  await owned.client.query(`grant all on schema ferry_queue to ${ROLE}`)
  const migrated = await owned.migrate()
  const tables = `select from pg_tables where schemaname = 'ferry_queue' and tablename in ('job', 'migration')`
  expect((await owned.client.query(tables)).rowCount).toBe(2)
  expect(migrated).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^The database is up to date\.\n/),
  })
})
