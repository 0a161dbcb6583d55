import { randomBytes } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { onServer, withDatabase } from '#test/support/database.ts'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

/** Every examination would otherwise call the platform, and wait for its limit. */
const NO_ACCOUNT = { FERRY_BASE_URL: '', FERRY_APP_KEY: '' }

test('another database than the one Ferry knew is told before and after it was noticed, for a week', async () => {
  await using cli = await openCli()
  await loadInstallation(cli.ferry.pool)
  const examine = async () => {
    const findings = jsonLines(await cli.ferryRun('doctor --json', NO_ACCOUNT))
    return findings.filter(({ check, found }) => check === 'database' && /Ferry knew/.test(`${found}`))
  }
  const what =
    'Find out on the platform, or in the lost database, who was sent since then; imports that were confirmed since may be ' +
    'missing altogether. `ferry verify` shows whether the rest is whole. Then `ferry imports resume ID` sends what this ' +
    'database does not know as sent, or `ferry imports cancel ID` ends an import. Inventories need nothing: the next listing ' +
    'corrects them.'
  expect(await examine()).toMatchObject([{ status: 'ok', found: 'it is the database that Ferry knew' }])

  await cli.query(
    `update ferry.known_database set database_oid = 1, written_by = pg_current_xact_id()::xid::text`,
  )
  expect(await examine()).toMatchObject([
    {
      status: 'warn',
      found: expect.stringMatching(
        /^This is not the database that Ferry knew: .* Rows that were written may be missing\.$/,
      ),
      whatToDo: `The next call or worker holds the imports that are sent, and records since when rows may be missing. ${what}`,
    },
  ])

  await cli.sync()
  expect(await examine()).toMatchObject([
    {
      status: 'warn',
      found: expect.stringMatching(
        / Rows that were written since \S+ may be missing\. It was noticed at \S+ \S+; 0 imports were held\.$/,
      ),
      whatToDo: what,
    },
  ])
  await cli.query(
    `update ferry.database_changes set held_imports = 1, noticed_at = now() - interval '6 days 23 hours'`,
  )
  expect(await examine()).toMatchObject([{ found: expect.stringContaining('; 1 import was held.') }])
  await cli.query(`update ferry.database_changes set noticed_at = now() - interval '7 days 1 hour'`)
  expect(await examine()).toMatchObject([{ status: 'ok' }])
})

test('a check that fails is a finding, and those after it are made all the same', async () => {
  await using cli = await openCli()
  await using opened = new AsyncDisposableStack()
  const url = new URL(cli.databaseUrl)
  const role = `ferry_test_${randomBytes(4).toString('hex')}`
  const asSuperuser = (statement: string) =>
    onServer(withDatabase(inject('database').superuserUrl, url.pathname.slice(1)), statement)
  await asSuperuser(`create role ${role} login password 'p' in role ${url.username}`)
  opened.defer(() => asSuperuser(`drop role ${role}`))
  await asSuperuser('revoke execute on function has_sequence_privilege(oid, text) from public')
  for (const table of ['database_changes', 'removal_holds'])
    await cli.query(`alter table ferry.${table} rename to no_${table}`)
  const owned = Object.assign(url, { username: role, password: 'p' })
  const ended = await cli.ferryRun('doctor --json', { ...NO_ACCOUNT, DATABASE_URL: owned.href })
  const made = jsonLines(ended).filter(({ check }) => check !== 'locks')
  expect(made.map(({ check, status, found }) => [check, status === 'fail' && found])).toEqual([
    ['configuration', 'no platform account is configured'],
    ['postgres', false],
    ['rights', 'permission denied for function has_sequence_privilege'],
    ['reader', false],
    ['database', 'relation "ferry.database_changes" does not exist'],
    ['connections', false],
    ['holds', 'relation "ferry.removal_holds" does not exist'],
    ...['imports', 'inventories', 'schedules', 'workers', 'clock', 'queue'].map(check => [check, false]),
  ])
  expect(ended).toMatchObject({ code: 2, stderr: '' })
})
