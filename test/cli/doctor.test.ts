import { describe, expect, inject, test } from 'vitest'
import { onServer, withDatabase } from '#test/support/database.ts'
import { openTestRedis, testRedisUrl } from '#test/support/redis.ts'
import { dropRole } from '#test/support/roles.ts'
import { examine } from './examine.ts'
import { accountsFile, type Cli, openCli } from './open-cli.ts'
import { jsonLines, runFerryHere } from './run-ferry.ts'

describe('ferry doctor', () => {
  test('says that the role is a superuser, what that means and what to do; not of the owner of the database', async () => {
    await using cli = await openCli()
    const { superuserUrl, serverUrl } = inject('database')
    const [database] = await cli.query<{ name: string }>('select current_database() as name')
    const roleOf = async (url: string) => {
      const ended = await cli.ferryRun('doctor --json', {
        DATABASE_URL: withDatabase(url, database?.name ?? ''),
      })
      return jsonLines(ended).find(({ check }) => check === 'role')
    }
    expect(await roleOf(superuserUrl)).toEqual({
      check: 'role',
      status: 'warn',
      found: expect.stringMatching(/^the role \S+ of DATABASE_URL is a superuser: .* can run programs/),
      whatToDo: expect.stringContaining('without SUPERUSER'),
    })
    if (serverUrl !== superuserUrl) expect(await roleOf(serverUrl)).toBeUndefined()
  })

  test('says that every role may create objects where names are looked up for Ferry', async () => {
    await using cli = await openCli()
    await cli.query('grant create on schema public to public')
    const { stdout } = await cli.ferryRun('doctor')
    expect(stdout).toMatch(
      /^warn {2}role +every role can create .*\n.*REVOKE CREATE ON SCHEMA public FROM PUBLIC/m,
    )
  })

  test('makes no tables for the queue, and does not call it a fault that there are none', async () => {
    await using cli = await openCli()
    const { code, stdout } = await cli.ferryRun('doctor')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^warn {2}queue .*no tables there yet\n.*`ferry migrate`/m)
    expect(await cli.query(`select from pg_namespace where nspname = 'ferry_queue'`)).toEqual([])
  })

  test('says whether the role that only reads has its rights, and with what SQL it gets them', async () => {
    await using cli = await openCli()
    const readerOf = async () =>
      jsonLines(await cli.ferryRun('doctor --json')).find(({ check }) => check === 'reader')
    await cli.ferryRun('migrate')
    expect(await readerOf()).toMatchObject({
      status: 'ok',
      found: expect.stringContaining('can read views and reports'),
    })
    await cli.query('grant select on ferry.import_recipients to ferry_reader')
    expect(await readerOf()).toMatchObject({
      status: 'warn',
      found: expect.stringContaining('that it should not have'),
      whatToDo: expect.stringContaining(
        'revoke all on all tables in schema ferry, ferry_internal from ferry_reader;',
      ),
    })
    expect(
      await cli.query(
        `select has_table_privilege('ferry_reader', 'ferry.import_recipients', 'select') as may`,
      ),
    ).toEqual([
      { may: true }, // Doctor changes nothing.
    ])
    await cli.ferryRun('migrate')
    expect(await readerOf()).toMatchObject({ status: 'ok' })
  })

  test('goes through the throttle: its calls are in the log', async () => {
    await using cli = await openCli()
    await cli.ferryRun('doctor')
    // Both are made at once.
    expect(await cli.query('select operation, run_id from ferry.platform_calls order by operation')).toEqual([
      { operation: 'list-alert-rules', run_id: null },
      { operation: 'list-mcp-servers', run_id: null },
    ])
  })

  test("says that the database's clock was set back, since the last calls are later than it", async () => {
    await using cli = await openCli()
    await cli.ferryRun('doctor')
    const clockOf = async () =>
      (await cli.ferryRun('doctor')).stdout.split('\n').filter(line => /^\w+ +clock /.test(line))
    expect(await clockOf()).toEqual([expect.stringMatching(/^ok .*behind|^ok .*ahead of/)])
    await cli.query(
      `update ferry.platform_calls set started = started + interval '2 h' where id = (select min(id) from ferry.platform_calls)`,
    )
    expect(await clockOf()).toEqual([
      expect.stringMatching(/^warn .*was set back: the latest calls began 1 h 59 min after/),
    ])
  })

  test('exits 4 if the platform refuses an account, and says what to do', async () => {
    await using cli = await openCli()
    const { code, stdout } = await cli.ferryRun('doctor', { FERRY_APP_KEY: 'wrong' })
    expect(code).toBe(4)
    expect(stdout).toMatch(/^FAIL {2}platform +account default: .*Unauthorized.*request_id/m)
    expect(stdout).toContain('Check the app_key of account default (FERRY_APP_KEY)')
  })

  test.for([
    [
      'the platform refuses the key with a code that is new',
      { kind: 'error', code: 'Novel', status: 403 },
      4,
    ],
    ['a gateway refuses the key', { kind: 'html', status: 403 }, 1],
    ['the platform fails', { kind: 'error', code: 'InternalError' }, 1],
  ] as const)('if %s it exits so: %o', async ([, fault, expected]) => {
    await using cli = await openCli()
    cli.sandbox.state.inject(fault, { operation: 'list-alert-rules' })
    const { code, lines } = await examine(cli, 'platform')
    expect(lines.map(({ status }) => status)).toEqual(['ok', 'fail'])
    expect(code).toBe(expected)
  })

  test('names limits that the platform closed, at once, and calls none of them again', async () => {
    await using cli = await openCli()
    cli.sandbox.state.onCall(async () => ({ kind: 'error', code: 'RequestTooFrequently', retryAfterS: 60 }))
    const first = await cli.ferryRun('doctor')
    expect(first.code).toBe(4)
    expect(first.stdout).toMatch(
      /^FAIL {2}platform +account default: the platform answers 429; list-mcp-servers is closed until \S+Z \(request_id \w+\)/m,
    )
    expect(first.stdout).toContain('list-alert-rules is closed until')
    const calls = () => cli.query('select from ferry.platform_calls')
    const before = (await calls()).length
    expect(before).toBe(2)
    await cli.query("update ferry.platform_limits set blocked_until = now() + interval '1 hour'")
    const second = await cli.ferryRun('doctor')
    expect(second.stdout).toContain('list-alert-rules is closed until')
    expect(await calls()).toHaveLength(before)
  })

  test('checks Redis even if the database cannot be reached', async () => {
    const ended = await runFerryHere(['doctor', '--json'], {
      DATABASE_URL: 'postgres://127.0.0.1:9/x',
      REDIS_URL: 'redis://127.0.0.1:9',
    })
    expect(jsonLines(ended).map(({ check, status }) => [check, status])).toEqual([
      ['configuration', 'fail'],
      ['postgres', 'fail'],
      ['queue', 'fail'],
    ])
  })

  test('exits 1 if the database cannot be reached, and stops there', async () => {
    const env = {
      DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:9/x',
      FERRY_BASE_URL: 'https://x.example',
      FERRY_APP_KEY: 'k',
    }
    const ended = await runFerryHere(['doctor', '--json'], env)
    expect(ended.code).toBe(1)
    expect(jsonLines(ended).map(({ check, status }) => [check, status])).toEqual([
      ['configuration', 'ok'],
      ['postgres', 'fail'],
    ])
    expect(ended.stdout + ended.stderr).not.toContain('hunter2')
  })

  test('exits 2 without an account, and still checks the rest', async () => {
    await using cli = await openCli()
    const ended = await cli.ferryRun('doctor --json', { FERRY_BASE_URL: '', FERRY_APP_KEY: '' })
    expect(ended.code).toBe(2)
    const [configuration, postgres] = jsonLines(ended)
    expect(configuration).toMatchObject({
      status: 'fail',
      whatToDo: expect.stringContaining('FERRY_BASE_URL'),
    })
    expect(postgres).toMatchObject({ check: 'postgres', status: 'ok' })
  })

  test('names removals that wait for a decision, and exits 5', async () => {
    await using cli = await openCli({ rules: 12 })
    await cli.sync()
    for (const id of cli.sandbox.state.rules.ids()) cli.sandbox.state.removeRule(id)
    await cli.sync()
    const { code, stdout } = await cli.ferryRun('doctor')
    expect(code).toBe(5)
    expect(stdout).toMatch(/^warn {2}holds .*the removal of 12 rows/m)
    expect(stdout).toContain('`ferry runs approve 2`')
  })

  test('names accounts that are one account on the platform, unless they share a limitGroup', async () => {
    await using cli = await openCli({ rules: 1 })
    cli.sandbox.state.addKey({ key: 'another' })
    const env = { FERRY_BASE_URL: '', FERRY_APP_KEY: '', ONE: cli.sandbox.appKey, TWO: 'another' }
    const file = (limitGroup?: string) => {
      const account = { baseUrl: cli.sandbox.baseUrl, ...(limitGroup ? { limitGroup } : {}) }
      return accountsFile(
        { name: 'monitoring', appKeyEnv: 'ONE', ...account },
        { name: 'on-call', appKeyEnv: 'TWO', ...account },
      )
    }
    await cli.ferryRun('sync alert-rules', { ...env, FERRY_ACCOUNTS_FILE: file() })
    const apart = await cli.ferryRun('doctor', { ...env, FERRY_ACCOUNTS_FILE: file() })
    expect(apart.stdout).toMatch(/^warn {2}limits +monitoring and on-call are one account/m)
    const together = await cli.ferryRun('doctor', { ...env, FERRY_ACCOUNTS_FILE: file('same') })
    expect(together.stdout).not.toMatch(/^\w+ +limits /m)
  })

  test('names the versions of the locale if the one that the database was made with is no longer that of the server', async () => {
    await using cli = await openCli()
    expect(jsonLines(await cli.ferryRun('doctor --json')).map(({ check }) => check)).not.toContain('locale')
    const [database] = await cli.query('select current_database() as name')
    const change = `update pg_database set datcollversion = '153.80' where datname = '${database?.name}'`
    await onServer(inject('database').superuserUrl, change)
    const { stdout } = await cli.ferryRun('doctor')
    expect(stdout).toMatch(/^warn {2}locale +the database was made with version 153\.80 of its locale/m)
    expect(stdout).toContain('REFRESH COLLATION VERSION')
  })

  test('reports a default isolation other than the usual one, and that Ferry does not depend on it', async () => {
    await using cli = await openCli()
    const [database] = await cli.query('select current_database() as name')
    await cli.query(`alter database ${database?.name} set default_transaction_isolation = 'repeatable read'`)
    const { code, stdout } = await cli.ferryRun('doctor')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^ok {4}isolation +the default isolation level is repeatable read; .* read committed/m,
    )
  })

  test('names the tables a role may not use, and the grant that helps', async () => {
    await using cli = await openCli()
    await cli.ferryRun('migrate')
    const { role, url } = await poorRole(cli)
    const shutOut = await cli.ferryRun('runs list', { DATABASE_URL: url })
    expect(shutOut).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /\(DATABASE_URL\) does not let Ferry use its tables: .*\n.*GRANT USAGE ON SCHEMA/,
      ),
    })
    expect(shutOut.stderr).not.toContain('is unexpected')

    await cli.query(`grant usage on schema ferry to ${role}`)
    await cli.query(`grant select on all tables in schema ferry to ${role}`)
    const { code, stdout, stderr } = await cli.ferryRun('doctor', { DATABASE_URL: url })
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toMatch(/^FAIL {2}rights .*ferry\.sync_runs/m)
    expect(stdout).toMatch(
      /^FAIL {2}queue .*permission denied.*\n.*GRANT USAGE ON SCHEMA ferry, ferry_internal, ferry_queue/m,
    )
    expect(stdout).toMatch(/^FAIL {2}platform .*permission denied/m)
    const sync = await cli.ferryRun('sync alert-rules', { DATABASE_URL: url })
    expect(sync).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('GRANT SELECT, INSERT, UPDATE, DELETE'),
    })
    expect(sync.stderr).not.toContain('is unexpected')
    expect(stdout).toContain(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ferry, ferry_internal, ferry_queue TO "${role}"`,
    )
    await dropRole(cli, role)
  })

  test.skipIf(!testRedisUrl)('reports the version of Redis and that it never evicts', async () => {
    await using cli = await openCli()
    await using redis = await openTestRedis()
    const { stdout } = await cli.ferryRun('doctor', { REDIS_URL: redis.url })
    expect(stdout).toMatch(/queue .*Redis .*noeviction/)
  })
})

/** A role that may connect, and nothing more. */
async function poorRole(cli: Cli): Promise<{ role: string; url: string }> {
  const role = `ferry_poor_${process.pid}`
  await cli.query(`create role ${role} login password 'x'`)
  const url = new URL(cli.databaseUrl)
  url.username = role
  url.password = 'x'
  return { role, url: url.href }
}
