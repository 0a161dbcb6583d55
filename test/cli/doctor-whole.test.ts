import { expect, test } from 'vitest'
import { dropRole } from '#test/support/roles.ts'
import { stageRows } from '#test/support/staged.ts'
import { examine } from './examine.ts'
import { type Cli, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'
import { steady } from './steady.ts'

/** Each machine has its own. */
const OF_THE_SERVER: readonly unknown[] = ['postgres', 'role', 'locks', 'reader', 'connections', 'clock']

test('of a database in which nothing has happened yet, nothing is said to be wrong', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  const { code, stdout } = await cli.ferryRun('doctor --json')
  const findings = jsonLines({ stdout: steady(stdout) }).filter(({ check }) => !OF_THE_SERVER.includes(check))
  const ok = (check: string, found: string) => ({ check, status: 'ok', found })
  expect(findings).toEqual([
    ok('configuration', 'every setting is valid; accounts: default'),
    ok('rights', 'this role has all the rights that Ferry needs'),
    ok('database', 'it is the database that Ferry knew'),
    ok('holds', 'no removal waits for a decision'),
    ok('imports', 'no import is waiting for a person, and none is stuck'),
    ok('inventories', 'none has been read yet; `ferry sync all` reads them'),
    ok('schedules', 'none is paused, none failed the last time that it ran, and no night was missed'),
    ok('workers', 'no worker is running, and no work is due; `ferry up` or `ferry worker` starts one.'),
    {
      check: 'queue',
      status: 'warn',
      found: 'the queue is in Postgres and has no tables there yet',
      whatToDo: '`ferry migrate` creates them, and so does `ferry up` or a `ferry worker` when it starts.',
    },
    ok('platform', 'account default: the platform lists 0 MCP servers (request_id REQUEST)'),
    ok('platform', 'account default: the platform lists 0 alert rules (request_id REQUEST)'),
  ])
  expect(code).toBe(0)
})

test('ten imports that wait for a person are named, and that there are more', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  for (let pageId = 1n; pageId <= 11n; pageId++)
    await stageRows(cli.ferry.pool, { rows: 1, status: 'paused', pageId })
  const { lines } = await examine(cli, 'imports')
  expect(lines).toHaveLength(11)
  expect(lines.at(-1)).toEqual({
    check: 'imports',
    status: 'warn',
    found: 'more imports need attention; the first 10 of each kind are named',
    whatToDo: '`ferry imports list --limit 1000` shows every import with its status.',
  })
  await cli.ferryRun('imports cancel 1 --yes')
  const named = (await examine(cli, 'imports')).lines.map(({ found }) => found)
  const found = Array.from(
    { length: 10 },
    (_, n) => `import ${n + 2} of account default is paused: A person paused it.`,
  )
  expect(named.toSorted()).toEqual(found.toSorted())
})

/** A role that may do all that Ferry does, and owns nothing; it is dropped in the end. */
async function openWorkingRole(
  cli: Cli,
): Promise<AsyncDisposable & { readonly role: string; readonly url: string }> {
  const role = `ferry_working_${process.pid}`
  const schemas = 'ferry, ferry_internal, ferry_queue'
  await cli.query(`create role ${role} login password 'x'`)
  await cli.query(`grant usage on schema ${schemas} to ${role}`)
  await cli.query(`grant select, insert, update, delete on all tables in schema ${schemas} to ${role}`)
  await cli.query(`grant usage on all sequences in schema ${schemas} to ${role}`)
  await cli.query(`grant execute on all functions in schema ${schemas} to ${role}`)
  const { href: url } = Object.assign(new URL(cli.databaseUrl), { username: role, password: 'x' })
  return { role, url, [Symbol.asyncDispose]: () => dropRole(cli, role) }
}

test('what a role may not do is named by its kind, each with its objects', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await cli.ferryRun('migrate')
  await using working = await openWorkingRole(cli)
  const { role, url } = working
  const rights = async () =>
    (await examine(cli, 'rights', { DATABASE_URL: url, FERRY_BASE_URL: '', FERRY_APP_KEY: '' })).lines
  expect(await rights()).toMatchObject([{ status: 'ok' }])
  await cli.query(`revoke temporary on database ${new URL(url).pathname.slice(1)} from public`)
  await cli.query(`revoke usage on schema ferry_queue from ${role}`)
  await cli.query(`revoke insert, delete on ferry.events, ferry.receivers from ${role}`)
  expect(await rights()).toEqual([
    {
      check: 'rights',
      status: 'fail',
      found:
        `the role ${role} lacks rights: usage of the schema ferry_queue; delete on ferry.events, ferry.receivers; ` +
        'insert on ferry.events, ferry.receivers; temporary tables, which the staging of imports needs',
      whatToDo:
        `As their owner: GRANT USAGE ON SCHEMA ferry, ferry_internal, ferry_queue TO "${role}"; ` +
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ferry, ferry_internal, ferry_queue TO "${role}"; ` +
        `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ferry, ferry_internal, ferry_queue TO "${role}"; ` +
        `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ferry, ferry_internal, ferry_queue TO "${role}"; ` +
        `GRANT TEMPORARY ON DATABASE … TO "${role}"; (docs/operators.md, "Two roles")`,
    },
  ])
})

test('who may not give the read-only role its rights gets the statements for somebody who may', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await cli.ferryRun('migrate')
  await cli.query('revoke select on ferry.imports from ferry_reader')
  await using working = await openWorkingRole(cli)
  const env = { DATABASE_URL: working.url }
  const told = await cli.ferryRun('migrate', env)
  expect(told).toMatchObject({
    code: 0,
    stderr:
      'ferry: this role cannot create the read-only role (ferry_reader), or cannot grant its rights. If you want it, run this ' +
      'as a superuser, or as a role that owns the tables and can create roles:\n',
  })
  const [said, ...statements] = told.stdout.trimEnd().split('\n')
  expect(said).toBe('The database is up to date.')
  expect(statements.length).toBeGreaterThan(0)
  const json = await cli.ferryRun('migrate --json', env)
  const { readerSql, ...others } = JSON.parse(json.stdout) as { readerSql: string[] }
  expect(others).toEqual({ migrations: 0, reader: 'refused' })
  expect(readerSql.map(statement => `${statement};`).join('\n')).toBe(statements.join('\n'))
})
